"""Programs of 3 to 8 related dispatches, drawn from a seed: few shapes, so that an entry of a tuning spec for one
dispatch could match another that differs in what is fused around it."""
import random

HEAD = """#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>
#bmn = affine_map<(b, m, n) -> (b, m, n)>
#bn = affine_map<(b, m, n) -> (n)>
#nhwc = affine_map<(b, h, w, c) -> (b, h, w, c)>
#c = affine_map<(b, h, w, c) -> (c)>
"""


def tensor(*shape):
    return f'tensor<{"x".join(map(str, shape))}xf32>'


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.arguments, self.results, self.values = [], [], [], 0
        self.m, self.n, self.k = (self.random.choice((32, 64, 96, 128, 160)) for _ in range(3))
        wanted = self.random.randint(3, 8)
        kinds = [self.matmul, self.matmul, self.batch_matmul, self.convolution, self.reduction, self.softmax,
                 self.layer_norm, self.transpose, self.elementwise, self.elementwise]
        # A few kinds again and again: relatives.
        few = self.random.sample(range(len(kinds)), self.random.randint(2, 3))
        for _ in range(wanted):
            kinds[self.random.choice(few)]()

    def value(self, line):
        self.values += 1
        self.lines.append(f'  %v{self.values} = {line}')
        return f'%v{self.values}'

    def argument(self, *shape):
        # The same weights serve several operations now and then.
        for index, known in enumerate(self.arguments):
            if known == shape and self.random.random() < 0.5:
                return f'%a{index}'
        self.arguments.append(shape)
        return f'%a{len(self.arguments) - 1}'

    def result(self, value, *shape):
        self.results.append((value, shape))

    def empty(self, *shape):
        return self.value(f'tensor.empty() : {tensor(*shape)}')

    def filled(self, constant, *shape):
        type_ = tensor(*shape)
        empty = self.empty(*shape)
        return self.value(f'linalg.fill ins({constant} : f32) outs({empty} : {type_}) -> {type_}')

    def generic(self, maps, iterators, operands, shape, body, init=None):
        """`operands`: (value, shape). `body`: lines over %x0, %x1, ... and %o that define %y."""
        init = init or self.empty(*shape)
        names = ', '.join(f'%x{i}: f32' for i in range(len(operands)))
        iterators = ', '.join(f'"{each}"' for each in iterators)
        return self.value(
            f'linalg.generic {{indexing_maps = [{", ".join(maps)}], iterator_types = [{iterators}]}}\n'
            f'      ins({", ".join(v for v, _ in operands)} : {", ".join(tensor(*s) for _, s in operands)})\n'
            f'      outs({init} : {tensor(*shape)}) {{\n  ^bb0({names}, %o: f32):\n    ' + '\n    '.join(body) +
            f'\n    linalg.yield %y : f32\n  }} -> {tensor(*shape)}')

    def epilogue(self, value, shape):
        """Nothing, a bias, a bias with relu, gelu, or a residual, behind a product or by itself."""
        parallel = ['parallel'] * len(shape)
        same = {2: '#mn', 3: '#bmn', 4: '#nhwc'}[len(shape)]
        last = {2: '#n', 3: '#bn', 4: '#c'}[len(shape)]
        kind = self.random.choice(('none', 'bias', 'relu', 'gelu', 'residual'))
        if kind == 'none':
            return value
        if kind in ('bias', 'relu'):
            bias = self.argument(shape[-1])
            body = ['%y = arith.addf %x0, %x1 : f32']
            if kind == 'relu':
                body = ['%s = arith.addf %x0, %x1 : f32', '%y = arith.maximumf %s, %zero : f32']
            return self.generic([same, last, same], parallel, [(value, shape), (bias, shape[-1:])], shape, body)
        if kind == 'gelu':
            body = ['%h = arith.mulf %x0, %half : f32', '%r = arith.mulf %x0, %root : f32', '%e = math.erf %r : f32',
                    '%p = arith.addf %e, %one : f32', '%y = arith.mulf %h, %p : f32']
            return self.generic([same, same], parallel, [(value, shape)], shape, body)
        other = self.argument(*shape)
        return self.generic([same, same, same], parallel, [(value, shape), (other, shape)], shape,
                            ['%y = arith.addf %x0, %x1 : f32'])

    def product(self, name, a, b, c):
        left, right = self.argument(*a), self.argument(*b)
        value = self.value(f'{name} ins({left}, {right} : {tensor(*a)}, {tensor(*b)})\n      '
                           f'outs({self.filled("%zero", *c)} : {tensor(*c)}) -> {tensor(*c)}')
        self.result(self.epilogue(value, c), *c)

    def matmul(self):
        self.product('linalg.matmul', (self.m, self.k), (self.k, self.n), (self.m, self.n))

    def batch_matmul(self):
        batch = self.random.choice((1, 3))
        self.product('linalg.batch_matmul', (batch, self.m, self.k), (batch, self.k, self.n), (batch, self.m, self.n))

    def convolution(self):
        size, channels = 12, self.random.choice((16, 32))
        self.product(
            'linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}',
            (1, size, size, channels), (3, 3, channels, 32), (1, size - 2, size - 2, 32))

    def rows(self, value, kind):
        """Sums or maxima of the rows of an m x n matrix."""
        constant, operation = {'sum': ('%zero', 'addf'), 'max': ('%lowest', 'maximumf')}[kind]
        init = self.filled(constant, self.m)
        return self.generic(['#mn', '#m'], ['parallel', 'reduction'], [(value, (self.m, self.n))], (self.m,),
                            [f'%y = arith.{operation} %x0, %o : f32'], init)

    def reduction(self):
        self.result(self.rows(self.argument(self.m, self.n), self.random.choice(('sum', 'max'))), self.m)

    def softmax(self):
        type_ = tensor(self.m, self.n)
        source, empty = self.argument(self.m, self.n), self.empty(self.m, self.n)
        self.result(self.value(f'linalg.softmax dimension(1) ins({source} : {type_}) outs({empty} : {type_}) -> {type_}'),
                    self.m, self.n)

    def layer_norm(self):
        shape, row = (self.m, self.n), (self.m,)
        source = self.argument(*shape)
        total = self.rows(source, 'sum')
        centred = self.generic(['#mn', '#m', '#mn'], ['parallel'] * 2, [(source, shape), (total, row)], shape,
                               ['%a = arith.divf %x1, %count : f32', '%y = arith.subf %x0, %a : f32'])
        squares = self.generic(['#mn', '#m'], ['parallel', 'reduction'], [(centred, shape)], row,
                               ['%q = arith.mulf %x0, %x0 : f32', '%y = arith.addf %q, %o : f32'],
                               self.filled('%zero', *row))
        self.result(self.generic(['#mn', '#m', '#mn'], ['parallel'] * 2, [(centred, shape), (squares, row)], shape,
                                 ['%v = arith.divf %x1, %count : f32', '%w = arith.addf %v, %small : f32',
                                  '%r = math.rsqrt %w : f32', '%y = arith.mulf %x0, %r : f32']), *shape)

    def transpose(self):
        source, empty = self.argument(self.m, self.n), self.empty(self.n, self.m)
        self.result(self.value(f'linalg.transpose ins({source} : {tensor(self.m, self.n)}) '
                               f'outs({empty} : {tensor(self.n, self.m)}) permutation = [1, 0]'), self.n, self.m)

    def elementwise(self):
        shape = (self.m, self.n)
        source = self.argument(*shape)
        value = self.epilogue(source, shape)
        if value == source:
            value = self.generic(['#mn', '#mn'], ['parallel'] * 2, [(source, shape)], shape, ['%y = math.exp %x0 : f32'])
        self.result(value, *shape)

    def text(self):
        arguments = ', '.join(f'%a{i}: {tensor(*shape)}' for i, shape in enumerate(self.arguments))
        types = ', '.join(tensor(*shape) for _, shape in self.results)
        constants = {'zero': '0.0', 'one': '1.0', 'half': '0.5', 'root': '0.70710678', 'small': '1.0e-5',
                     'lowest': '0xFF800000', 'count': f'{self.n}.0'}
        lines = [f'  %{name} = arith.constant {value} : f32' for name, value in constants.items()] + self.lines
        values = ', '.join(value for value, _ in self.results)
        return f'{HEAD}func.func @main({arguments}) -> ({types}) {{\n' + '\n'.join(lines) + \
            f'\n  return {values} : {types}\n}}\n'
