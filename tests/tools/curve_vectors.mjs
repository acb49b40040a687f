// Known answers for tests/unit/math from @noble/curves, a second source for both curves.
//
//   npm ci && node curve_vectors.mjs > ../unit/math/vectors.txt
//
// A line is: curve, kind, numbers in hexadecimal (most significant digit first). Coordinates of Fq2
// come c0 first, points x first; a pairing's value is its twelve coordinates as curve.h orders them.
// The numbers are drawn from a fixed generator, so that the file comes out the same each time.
import { bn254 } from '@noble/curves/bn254';
import { bls12_381 } from '@noble/curves/bls12-381';

let state = 0x6d696c6c72616365n;
function next64() {
  state = (state + 0x9e3779b97f4a7c15n) & 0xffffffffffffffffn;
  let z = state;
  z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & 0xffffffffffffffffn;
  z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & 0xffffffffffffffffn;
  return z ^ (z >> 31n);
}
const below = (n) => {
  let x = 0n;
  for (let i = 0; i < 10; i++) x = (x << 64n) | next64();
  return x % n;
};
const put = (curve, kind, ...numbers) =>
  console.log([curve, kind, ...numbers.flat(9).map((x) => (typeof x === 'boolean' ? +x : x).toString(16))].join(' '));

const fq2 = (a) => [a.c0, a.c1];
const fq6 = (a) => [fq2(a.c0), fq2(a.c1), fq2(a.c2)];
const fq12 = (a) => [fq6(a.c0), fq6(a.c1)];
const coordinates = (p) => {
  if (p.is0()) return typeof p.X === 'bigint' ? [0n, 0n] : [0n, 0n, 0n, 0n];
  const { x, y } = p.toAffine();
  return typeof x === 'bigint' ? [x, y] : [fq2(x), fq2(y)];
};

// noble's own product refuses scalars of r and more.
function times(point, k) {
  let sum = point.subtract(point);
  for (const bit of k.toString(2)) {
    sum = sum.double();
    if (bit === '1') sum = sum.add(point);
  }
  return sum;
}

// A point of the whole curve: the first x from a random one on whose right side is a square.
function anyPoint(Point, Field, b, element) {
  for (let x = element(); ; x = Field.add(x, Field.ONE)) {
    const rhs = Field.add(Field.mul(Field.sqr(x), x), b);
    try {
      return Point.fromAffine({ x, y: Field.sqrt(rhs) });
    } catch {
      continue;
    }
  }
}

function vectors(name, curve, g1Cofactor, g2Cofactor, g1Orders, g2Orders) {
  const { Fp, Fr, Fp2, Fp12 } = curve.fields;
  const [G1, G2] = [curve.G1.ProjectivePoint, curve.G2.ProjectivePoint];
  const r = Fr.ORDER;
  for (let i = 0; i < 4; i++) {
    const [a, b] = [below(r), below(r)];
    put(name, 'fr_mul', a, b, Fr.mul(a, b));
    put(name, 'fr_inv', a, Fr.inv(a));
    const [c, d] = [below(Fp.ORDER), below(Fp.ORDER)];
    put(name, 'fq_mul', c, d, Fp.mul(c, d));
    put(name, 'fq_inv', c, Fp.inv(c));
    const u = Fp2.fromBigTuple([c, d]);
    const v = Fp2.fromBigTuple([below(Fp.ORDER), below(Fp.ORDER)]);
    put(name, 'fq2_mul', fq2(u), fq2(v), fq2(Fp2.mul(u, v)));
    put(name, 'fq2_inv', fq2(u), fq2(Fp2.inv(u)));
    const twelve = () => Fp12.fromBigTwelve(Array.from({ length: 12 }, () => below(Fp.ORDER)));
    const [s, t] = [twelve(), twelve()];
    put(name, 'fq12_mul', fq12(s), fq12(t), fq12(Fp12.mul(s, t)));
    put(name, 'fq12_inv', fq12(s), fq12(Fp12.inv(s)));
    put(name, 'fq12_frobenius', fq12(s), fq12(Fp12.frobeniusMap(s, 1)));
    put(name, 'fq12_frobenius2', fq12(s), fq12(Fp12.frobeniusMap(s, 2)));
  }
  for (const k of [1n, 2n, 3n, r - 1n, below(r), below(r), below(r)]) {
    put(name, 'g1_mul', k, coordinates(times(G1.BASE, k)));
    put(name, 'g2_mul', k, coordinates(times(G2.BASE, k)));
  }
  for (let i = 0; i < 3; i++) {
    const pair = (P) => [times(P.BASE, below(r)), times(P.BASE, below(r))];
    const [p1, q1] = pair(G1);
    put(name, 'g1_add', coordinates(p1), coordinates(q1), coordinates(p1.add(q1)));
    const [p2, q2] = pair(G2);
    put(name, 'g2_add', coordinates(p2), coordinates(q2), coordinates(p2.add(q2)));
    put(name, 'pairing', coordinates(p1), coordinates(p2), fq12(curve.pairing(p1, p2)));
  }
  put(name, 'pairing', coordinates(G1.BASE), coordinates(G2.BASE), fq12(curve.pairing(G1.BASE, G2.BASE)));

  // Points of the whole curves: a random one, one of the subgroup, and where there are any, points
  // whose order is a small divisor of the cofactor, alone and added to one of the subgroup.
  const check = (group, P, p) => put(name, group + '_subgroup', coordinates(p), times(p, r).is0());
  const both = [
    ['g1', G1, Fp, curve.G1.CURVE.b, () => below(Fp.ORDER), g1Cofactor, g1Orders],
    ['g2', G2, Fp2, curve.G2.CURVE.b, () => Fp2.fromBigTuple([below(Fp.ORDER), below(Fp.ORDER)]), g2Cofactor, g2Orders],
  ];
  for (const [group, P, F, b, element, cofactor, orders] of both) {
    for (let i = 0; i < 4; i++) {
      const p = anyPoint(P, F, b, element);
      check(group, P, p);
      check(group, P, times(p, cofactor));
    }
    for (const order of orders) {
      if (cofactor % order !== 0n) throw new Error(`${order} does not divide the cofactor`);
      let rest = cofactor * r;
      while (rest % order === 0n) rest /= order;
      let small = anyPoint(P, F, b, element);
      for (small = times(small, rest); small.is0(); small = times(anyPoint(P, F, b, element), rest));
      while (!times(small, order).is0()) small = times(small, order);
      check(group, P, small);
      check(group, P, small.add(times(P.BASE, below(r))));
    }
  }
}

const q = bn254.fields.Fp.ORDER;
vectors('bn254', bn254, 1n, 2n * q - bn254.fields.Fr.ORDER, [], [10069n, 5864401n]);
const h1 = 0x396c8c005555e1568c00aaab0000aaabn;
const h2 = bls12_381.G2.CURVE.h;
vectors('bls12-381', bls12_381, h1, h2, [3n, 11n, 10177n], [13n, 23n, 2713n]);

// The sign that a compressed point carries.
for (let i = 0; i < 6; i++) {
  const p1 = times(bls12_381.G1.ProjectivePoint.BASE, below(bls12_381.fields.Fr.ORDER));
  put('bls12-381', 'g1_larger', coordinates(p1), (p1.toRawBytes(true)[0] & 0x20) !== 0);
  const p2 = times(bls12_381.G2.ProjectivePoint.BASE, below(bls12_381.fields.Fr.ORDER));
  put('bls12-381', 'g2_larger', coordinates(p2), (p2.toRawBytes(true)[0] & 0x20) !== 0);
}
