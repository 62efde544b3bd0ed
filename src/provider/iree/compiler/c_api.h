// The part of libIREECompiler's C interface that hone calls, declared here because the library is
// opened at run time and its headers are not needed to build. Sources: IREE's embedding_api.h,
// mlir_interop.h, tool_entry_points_api.h and dialects/iree_codegen.h; MLIR's mlir-c/IR.h,
// AffineMap.h, BuiltinAttributes.h, BuiltinTypes.h, Pass.h and Dialect/Linalg.h. The MLIR part
// promises no stable interface: every symbol is resolved when the library is opened, and a missing
// one is named.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace hone::iree {

struct Error_t;  // iree_compiler_error_t and its kin: opaque, owned by the library
struct Session_t;
struct Invocation_t;
struct Source_t;
struct Output_t;

// A handle of the C interface to an MLIR object: a pointer, null for none.
template <class Kind, class Pointer = void*>
struct MlirHandle {
  Pointer ptr = nullptr;

  explicit operator bool() const { return ptr != nullptr; }
  // Compares pointers, as the C interface does: MLIR stores equal attributes and types once.
  auto operator<=>(const MlirHandle&) const = default;
};
using MlirContext = MlirHandle<struct ContextHandle>;
using MlirOperation = MlirHandle<struct OperationHandle>;
using MlirBlock = MlirHandle<struct BlockHandle>;
using MlirRegion = MlirHandle<struct RegionHandle>;
using MlirOpPrintingFlags = MlirHandle<struct OpPrintingFlagsHandle>;
using MlirPassManager = MlirHandle<struct PassManagerHandle>;
using MlirOpPassManager = MlirHandle<struct OpPassManagerHandle>;
using MlirAttribute = MlirHandle<struct AttributeHandle, const void*>;
using MlirType = MlirHandle<struct TypeHandle, const void*>;
using MlirValue = MlirHandle<struct ValueHandle, const void*>;
using MlirLocation = MlirHandle<struct LocationHandle, const void*>;
using MlirIdentifier = MlirHandle<struct IdentifierHandle, const void*>;
using MlirAffineExpr = MlirHandle<struct AffineExprHandle, const void*>;
using MlirAffineMap = MlirHandle<struct AffineMapHandle, const void*>;
using MlirTypeID = MlirHandle<struct TypeIdHandle, const void*>;
struct MlirLogicalResult {
  std::int8_t value = 0;  // 0: failure
};
struct MlirStringRef {
  const char* data = nullptr;
  std::size_t length = 0;
};
struct MlirNamedAttribute {
  MlirIdentifier name;
  MlirAttribute attribute;
};
// ireeCodegenCompilationInfoParameters
struct CompilationInfoParameters {
  MlirAttribute lowering_config, translation_info;
};
// ireeCodegenTranslationInfoParameters
struct TranslationInfoParameters {
  MlirAttribute pipeline, codegen_spec;
  const std::int64_t* workgroup_size = nullptr;
  std::size_t workgroup_dimensions = 0;
  std::int64_t subgroup_size = 0;
  MlirAttribute configuration;  // a dictionary, or null
};
// Each a DenseI32Array of loop numbers; null when the operation is no contraction.
struct MlirLinalgContractionDimensions {
  MlirAttribute batch, m, n, k;
};

// iree_compiler_diagnostic_severity_t
enum class Severity : int { kNote = 0, kWarning = 1, kError = 2, kRemark = 3 };

using MlirStringCallback = void (*)(MlirStringRef, void*);
using DiagnosticCallback = void (*)(Severity, const char* message, std::size_t size, void*);

// X(result, name, (arguments))
#define HONE_IREE_FUNCTIONS(X)                                                                   \
  X(const char*, ireeCompilerGetRevision, ())                                                    \
  X(void, ireeCompilerGlobalInitialize, ())                                                      \
  X(void, ireeCompilerSetupGlobalCL,                                                             \
    (int, const char* const*, const char* banner, bool install_signal_handlers))                 \
  X(void, ireeCompilerErrorDestroy, (Error_t*))                                                  \
  X(const char*, ireeCompilerErrorGetMessage, (Error_t*))                                        \
  X(Session_t*, ireeCompilerSessionCreate, ())                                                   \
  X(void, ireeCompilerSessionDestroy, (Session_t*))                                              \
  X(Error_t*, ireeCompilerSessionSetFlags, (Session_t*, int, const char* const*))                \
  X(MlirContext, ireeCompilerSessionBorrowContext, (Session_t*))                                 \
  X(Invocation_t*, ireeCompilerInvocationCreate, (Session_t*))                                   \
  X(void, ireeCompilerInvocationDestroy, (Invocation_t*))                                        \
  X(void, ireeCompilerInvocationEnableCallbackDiagnostics,                                       \
    (Invocation_t*, int flags, DiagnosticCallback, void*))                                       \
  X(void, ireeCompilerInvocationSetVerifyIR, (Invocation_t*, bool))                              \
  X(bool, ireeCompilerInvocationParseSource, (Invocation_t*, Source_t*))                         \
  X(bool, ireeCompilerInvocationImportStealModule, (Invocation_t*, MlirOperation))               \
  X(MlirOperation, ireeCompilerInvocationExportStealModule, (Invocation_t*))                     \
  X(void, ireeCompilerInvocationSetCompileFromPhase, (Invocation_t*, const char*))               \
  X(void, ireeCompilerInvocationSetCompileToPhase, (Invocation_t*, const char*))                 \
  X(bool, ireeCompilerInvocationPipeline, (Invocation_t*, int pipeline))                         \
  X(bool, ireeCompilerInvocationRunPassPipeline, (Invocation_t*, const char* pipeline))          \
  X(Error_t*, ireeCompilerInvocationOutputVMBytecode, (Invocation_t*, Output_t*))                \
  X(Error_t*, ireeCompilerInvocationOutputHALExecutable, (Invocation_t*, Output_t*))             \
  X(Error_t*, ireeCompilerInvocationOutputIR, (Invocation_t*, Output_t*))                        \
  X(Error_t*, ireeCompilerInvocationOutputIRBytecode, (Invocation_t*, Output_t*, int version))   \
  X(Error_t*, ireeCompilerSourceWrapBuffer,                                                      \
    (Session_t*, const char* name, const char* bytes, std::size_t, bool terminated, Source_t**)) \
  X(void, ireeCompilerSourceDestroy, (Source_t*))                                                \
  X(Error_t*, ireeCompilerOutputOpenMembuffer, (Output_t**))                                     \
  X(Error_t*, ireeCompilerOutputMapMemory, (Output_t*, void**, std::uint64_t*))                  \
  X(void, ireeCompilerOutputDestroy, (Output_t*))                                                \
  X(int, ireeCompilerRunLldMain, (int, char**))                                                  \
  X(MlirAttribute, ireeCodegenMaterializeConfigurationAttrFromConstraintsOp,                     \
    (MlirOperation, MlirStringRef attribute, std::size_t, const MlirStringRef* names,            \
     const std::int64_t* values, MlirAttribute* diagnostic))                                     \
  X(MlirAttribute, ireeCodegenConvertConstraintsOpToSMTLIB, (MlirOperation, bool emit_reset))    \
  X(CompilationInfoParameters, ireeCodegenCompilationInfoAttrGetParameters, (MlirAttribute))     \
  X(TranslationInfoParameters, ireeCodegenTranslationInfoAttrGetParameters, (MlirAttribute))     \
  X(MlirAttribute, ireeCodegenTranslationInfoAttrGet, (MlirContext, TranslationInfoParameters))  \
  X(bool, ireeAttributeIsAGPUPipelineOptionsAttr, (MlirAttribute))                               \
  X(MlirAttribute, ireeGPUPipelineOptionsAttrGet,                                                \
    (MlirContext, const std::int64_t* prefetch_num_stages, const bool* no_reduce_bank_conflicts, \
     const bool* use_igemm_convolution, const MlirAttribute* reorder_workgroups_strategy))       \
  X(MlirAttribute, ireeGPUPipelineOptionsAttrGetPrefetchNumStages, (MlirAttribute))              \
  X(MlirAttribute, ireeGPUPipelineOptionsAttrGetUseIgemmConvolution, (MlirAttribute))            \
  X(MlirAttribute, ireeGPUPipelineOptionsAttrGetReorderWorkgroupsStrategy, (MlirAttribute))      \
  X(MlirTypeID, ireeCodegenOneOfKnobAttrGetTypeID, ())                                           \
  X(MlirAttribute, ireeCodegenOneOfKnobAttrGetName, (MlirAttribute))                             \
  X(void, ireeCodegenOneOfKnobAttrGetOptions, (MlirAttribute, std::intptr_t*, MlirAttribute*))   \
  X(MlirTypeID, ireeGPULoweringConfigAttrGetTypeID, ())                                          \
  X(MlirAttribute, ireeGPULoweringConfigAttrGetAttributes, (MlirAttribute))                      \
  X(MlirTypeID, mlirAttributeGetTypeID, (MlirAttribute))                                         \
  X(std::intptr_t, mlirDictionaryAttrGetNumElements, (MlirAttribute))                            \
  X(MlirNamedAttribute, mlirDictionaryAttrGetElement, (MlirAttribute, std::intptr_t))            \
  X(bool, mlirAttributeIsADenseI64Array, (MlirAttribute))                                        \
  X(std::int64_t, mlirDenseI64ArrayGetElement, (MlirAttribute, std::intptr_t))                   \
  X(MlirValue, mlirBlockGetArgument, (MlirBlock, std::intptr_t))                                 \
  X(std::intptr_t, mlirBlockGetNumArguments, (MlirBlock))                                        \
  X(MlirLinalgContractionDimensions, mlirLinalgInferContractionDimensions, (MlirOperation))      \
  X(bool, mlirLinalgIsAContractionOp, (MlirOperation))                                           \
  X(bool, mlirLinalgIsAConvolutionOp, (MlirOperation))                                           \
  X(MlirAttribute, mlirLinalgGetIndexingMapsAttribute, (MlirOperation))                          \
  X(unsigned, mlirContextGetNumThreads, (MlirContext))                                           \
  X(void, mlirContextEnableMultithreading, (MlirContext, bool))                                  \
  X(MlirPassManager, mlirPassManagerCreate, (MlirContext))                                       \
  X(void, mlirPassManagerDestroy, (MlirPassManager))                                             \
  X(MlirOpPassManager, mlirPassManagerGetAsOpPassManager, (MlirPassManager))                     \
  X(MlirLogicalResult, mlirParsePassPipeline,                                                    \
    (MlirOpPassManager, MlirStringRef, MlirStringCallback, void*))                               \
  X(MlirOperation, mlirOperationClone, (MlirOperation))                                          \
  X(void, mlirOperationDestroy, (MlirOperation))                                                 \
  X(MlirContext, mlirOperationGetContext, (MlirOperation))                                       \
  X(MlirLocation, mlirOperationGetLocation, (MlirOperation))                                     \
  X(MlirIdentifier, mlirOperationGetName, (MlirOperation))                                       \
  X(MlirOperation, mlirOperationGetParentOperation, (MlirOperation))                             \
  X(MlirOperation, mlirOperationGetNextInBlock, (MlirOperation))                                 \
  X(MlirBlock, mlirOperationGetBlock, (MlirOperation))                                           \
  X(std::intptr_t, mlirOperationGetNumRegions, (MlirOperation))                                  \
  X(MlirRegion, mlirOperationGetRegion, (MlirOperation, std::intptr_t))                          \
  X(std::intptr_t, mlirOperationGetNumOperands, (MlirOperation))                                 \
  X(MlirValue, mlirOperationGetOperand, (MlirOperation, std::intptr_t))                          \
  X(void, mlirOperationSetOperand, (MlirOperation, std::intptr_t, MlirValue))                    \
  X(std::intptr_t, mlirOperationGetNumResults, (MlirOperation))                                  \
  X(MlirValue, mlirOperationGetResult, (MlirOperation, std::intptr_t))                           \
  X(std::intptr_t, mlirOperationGetNumAttributes, (MlirOperation))                               \
  X(MlirNamedAttribute, mlirOperationGetAttribute, (MlirOperation, std::intptr_t))               \
  X(MlirAttribute, mlirOperationGetAttributeByName, (MlirOperation, MlirStringRef))              \
  X(void, mlirOperationSetAttributeByName, (MlirOperation, MlirStringRef, MlirAttribute))        \
  X(bool, mlirOperationRemoveAttributeByName, (MlirOperation, MlirStringRef))                    \
  X(void, mlirOperationPrintWithFlags,                                                           \
    (MlirOperation, MlirOpPrintingFlags, MlirStringCallback, void*))                             \
  X(MlirOpPrintingFlags, mlirOpPrintingFlagsCreate, ())                                          \
  X(void, mlirOpPrintingFlagsDestroy, (MlirOpPrintingFlags))                                     \
  X(void, mlirOpPrintingFlagsElideLargeElementsAttrs, (MlirOpPrintingFlags, std::intptr_t))      \
  X(void, mlirOpPrintingFlagsElideLargeResourceString, (MlirOpPrintingFlags, std::intptr_t))     \
  X(MlirBlock, mlirRegionGetFirstBlock, (MlirRegion))                                            \
  X(MlirBlock, mlirBlockGetNextInRegion, (MlirBlock))                                            \
  X(MlirOperation, mlirBlockGetFirstOperation, (MlirBlock))                                      \
  X(MlirOperation, mlirBlockGetTerminator, (MlirBlock))                                          \
  X(void, mlirBlockInsertOwnedOperationBefore, (MlirBlock, MlirOperation, MlirOperation))        \
  X(MlirOperation, mlirBlockGetParentOperation, (MlirBlock))                                     \
  X(std::intptr_t, mlirBlockGetNumPredecessors, (MlirBlock))                                     \
  X(MlirBlock, mlirBlockGetPredecessor, (MlirBlock, std::intptr_t))                              \
  X(std::intptr_t, mlirOperationGetNumSuccessors, (MlirOperation))                               \
  X(MlirBlock, mlirOperationGetSuccessor, (MlirOperation, std::intptr_t))                        \
  X(MlirBlock, mlirBlockArgumentGetOwner, (MlirValue))                                           \
  X(std::intptr_t, mlirBlockArgumentGetArgNumber, (MlirValue))                                   \
  X(bool, mlirValueIsAOpResult, (MlirValue))                                                     \
  X(MlirOperation, mlirOpResultGetOwner, (MlirValue))                                            \
  X(MlirType, mlirValueGetType, (MlirValue))                                                     \
  X(void, mlirLocationPrint, (MlirLocation, MlirStringCallback, void*))                          \
  X(MlirStringRef, mlirIdentifierStr, (MlirIdentifier))                                          \
  X(MlirAttribute, mlirAttributeParseGet, (MlirContext, MlirStringRef))                          \
  X(void, mlirAttributePrint, (MlirAttribute, MlirStringCallback, void*))                        \
  X(bool, mlirAttributeIsAString, (MlirAttribute))                                               \
  X(MlirStringRef, mlirStringAttrGetValue, (MlirAttribute))                                      \
  X(bool, mlirAttributeIsAInteger, (MlirAttribute))                                              \
  X(std::int64_t, mlirIntegerAttrGetValueInt, (MlirAttribute))                                   \
  X(bool, mlirAttributeIsAFloat, (MlirAttribute))                                                \
  X(double, mlirFloatAttrGetValueDouble, (MlirAttribute))                                        \
  X(bool, mlirAttributeIsADenseElements, (MlirAttribute))                                        \
  X(bool, mlirDenseElementsAttrIsSplat, (MlirAttribute))                                         \
  X(MlirAttribute, mlirDenseElementsAttrGetSplatValue, (MlirAttribute))                          \
  X(const void*, mlirDenseElementsAttrGetRawData, (MlirAttribute))                               \
  X(bool, mlirAttributeIsAArray, (MlirAttribute))                                                \
  X(std::intptr_t, mlirArrayAttrGetNumElements, (MlirAttribute))                                 \
  X(MlirAttribute, mlirArrayAttrGetElement, (MlirAttribute, std::intptr_t))                      \
  X(bool, mlirAttributeIsADictionary, (MlirAttribute))                                           \
  X(MlirAttribute, mlirDictionaryAttrGetElementByName, (MlirAttribute, MlirStringRef))           \
  X(bool, mlirAttributeIsASymbolRef, (MlirAttribute))                                            \
  X(MlirStringRef, mlirSymbolRefAttrGetRootReference, (MlirAttribute))                           \
  X(MlirStringRef, mlirSymbolRefAttrGetLeafReference, (MlirAttribute))                           \
  X(bool, mlirAttributeIsADenseI32Array, (MlirAttribute))                                        \
  X(std::intptr_t, mlirDenseArrayGetNumElements, (MlirAttribute))                                \
  X(std::int32_t, mlirDenseI32ArrayGetElement, (MlirAttribute, std::intptr_t))                   \
  X(MlirAffineMap, mlirAffineMapAttrGetValue, (MlirAttribute))                                   \
  X(std::intptr_t, mlirAffineMapGetNumDims, (MlirAffineMap))                                     \
  X(std::intptr_t, mlirAffineMapGetNumResults, (MlirAffineMap))                                  \
  X(MlirAffineExpr, mlirAffineMapGetResult, (MlirAffineMap, std::intptr_t))                      \
  X(bool, mlirAffineExprIsASymbol, (MlirAffineExpr))                                             \
  X(std::intptr_t, mlirAffineSymbolExprGetPosition, (MlirAffineExpr))                            \
  X(bool, mlirAffineExprIsAConstant, (MlirAffineExpr))                                           \
  X(std::int64_t, mlirAffineConstantExprGetValue, (MlirAffineExpr))                              \
  X(bool, mlirAffineExprIsAAdd, (MlirAffineExpr))                                                \
  X(bool, mlirAffineExprIsAMul, (MlirAffineExpr))                                                \
  X(bool, mlirAffineExprIsAMod, (MlirAffineExpr))                                                \
  X(bool, mlirAffineExprIsAFloorDiv, (MlirAffineExpr))                                           \
  X(bool, mlirAffineExprIsACeilDiv, (MlirAffineExpr))                                            \
  X(MlirAffineExpr, mlirAffineBinaryOpExprGetLHS, (MlirAffineExpr))                              \
  X(MlirAffineExpr, mlirAffineBinaryOpExprGetRHS, (MlirAffineExpr))                              \
  X(bool, mlirAffineExprIsADim, (MlirAffineExpr))                                                \
  X(std::intptr_t, mlirAffineDimExprGetPosition, (MlirAffineExpr))                               \
  X(void, mlirTypePrint, (MlirType, MlirStringCallback, void*))                                  \
  X(bool, mlirTypeIsAShaped, (MlirType))                                                         \
  X(bool, mlirShapedTypeHasRank, (MlirType))                                                     \
  X(std::int64_t, mlirShapedTypeGetRank, (MlirType))                                             \
  X(bool, mlirShapedTypeIsDynamicDim, (MlirType, std::intptr_t))                                 \
  X(std::int64_t, mlirShapedTypeGetDimSize, (MlirType, std::intptr_t))

// The resolved functions. CompilerLibrary (library.h) fills every one or fails.
struct CApi {
#define HONE_IREE_DECLARE(result, name, arguments) result(*name) arguments = nullptr;
  HONE_IREE_FUNCTIONS(HONE_IREE_DECLARE)
#undef HONE_IREE_DECLARE
};

}  // namespace hone::iree
