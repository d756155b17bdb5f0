// A QR code for a text, as ISO/IEC 18004 has it: byte mode, error correction level M, the smallest version that fits.

const MIN_VERSION = 1;
const MAX_VERSION = 40;
// For each version, at level M: error correction codewords in a block, and blocks.
const ECC_PER_BLOCK = [0, 10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26, 26, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28];
const BLOCKS = [0, 1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16, 17, 17, 18, 20, 21, 23, 25, 26, 28, 29, 31, 33, 35, 37, 38, 40, 43, 45, 47, 49];
const MASKS = [
  (x, y) => (x + y) % 2 === 0,
  (x, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
];
const SVG = "http://www.w3.org/2000/svg";
const QUIET_ZONE = 4; // modules around the code that stay light

/** The rows of the code for a text: arrays of booleans, true is dark. `mask`: 0 to 7; the best one if it is not given. */
export function qrMatrix(text, mask = undefined) {
  const bytes = new TextEncoder().encode(text);
  const version = versionFor(bytes.length);
  const code = new Code(version);
  code.drawData(interleave(version, dataCodewords(version, bytes)));
  return mask === undefined ? code.withBestMask() : code.masked(mask);
}

/** The code as an SVG element. It is dark on light in every theme, because many cameras expect that. */
export function qrImage(text, label) {
  const rows = qrMatrix(text);
  const size = rows.length + 2 * QUIET_ZONE;
  const svg = document.createElementNS(SVG, "svg");
  const attributes = { class: "qr", viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": label, "shape-rendering": "crispEdges" };
  for (const [name, value] of Object.entries(attributes)) svg.setAttribute(name, value);
  const light = document.createElementNS(SVG, "rect");
  for (const [name, value] of Object.entries({ width: size, height: size, fill: "#fff" })) light.setAttribute(name, value);
  const dark = document.createElementNS(SVG, "path");
  dark.setAttribute("fill", "#000");
  dark.setAttribute("d", rows.flatMap((row, y) => row.flatMap((on, x) => (on ? [`M${x + QUIET_ZONE} ${y + QUIET_ZONE}h1v1h-1z`] : []))).join(""));
  svg.append(light, dark);
  return svg;
}

// -- codewords --------------------------------------------------------------------------------
/** The number of modules of a version that hold data and error correction. */
function dataModules(version) {
  const alignment = Math.floor(version / 7) + 2;
  let modules = (16 * version + 128) * version + 64;
  if (version >= 2) modules -= (25 * alignment - 10) * alignment - 55;
  if (version >= 7) modules -= 36;
  return modules;
}

function dataCapacity(version) {
  return Math.floor(dataModules(version) / 8) - ECC_PER_BLOCK[version] * BLOCKS[version];
}

function lengthBits(version) {
  return version < 10 ? 8 : 16;
}

function versionFor(length) {
  for (let version = MIN_VERSION; version <= MAX_VERSION; version++) {
    if (4 + lengthBits(version) + 8 * length <= 8 * dataCapacity(version)) return version;
  }
  throw new RangeError("this text is too long for a QR code");
}

function dataCodewords(version, bytes) {
  const bits = [];
  const push = (value, count) => {
    for (let i = count - 1; i >= 0; i--) bits.push((value >>> i) & 1);
  };
  push(0b0100, 4); // byte mode
  push(bytes.length, lengthBits(version));
  for (const byte of bytes) push(byte, 8);
  const capacity = 8 * dataCapacity(version);
  push(0, Math.min(4, capacity - bits.length)); // the terminator
  push(0, (8 - (bits.length % 8)) % 8);
  for (let pad = 0xec; bits.length < capacity; pad ^= 0xec ^ 0x11) push(pad, 8);
  const codewords = [];
  for (let i = 0; i < bits.length; i += 8) codewords.push(bits.slice(i, i + 8).reduce((byte, bit) => (byte << 1) | bit, 0));
  return codewords;
}

/** The data in blocks, each with its error correction; first codewords of all blocks first. */
function interleave(version, data) {
  const count = BLOCKS[version];
  const shortLength = Math.floor(data.length / count);
  const shortBlocks = count - (data.length % count);
  const divisor = generator(ECC_PER_BLOCK[version]);
  const blocks = [];
  for (let i = 0, at = 0; i < count; i++) {
    const length = shortLength + (i < shortBlocks ? 0 : 1);
    const block = data.slice(at, at + length);
    blocks.push({ data: block, ecc: remainder(block, divisor) });
    at += length;
  }
  const take = (part, length) => Array.from({ length }, (_, i) => blocks.flatMap((block) => (i < block[part].length ? [block[part][i]] : []))).flat();
  return [...take("data", shortLength + 1), ...take("ecc", ECC_PER_BLOCK[version])];
}

/** The product of two elements of GF(2^8), modulo x^8 + x^4 + x^3 + x^2 + 1. */
function multiply(a, b) {
  let product = 0;
  for (let i = 7; i >= 0; i--) {
    product = (product << 1) ^ ((product >>> 7) * 0x11d);
    product ^= ((b >>> i) & 1) * a;
  }
  return product;
}

/** The coefficients of the generator polynomial of a degree, without the first, which is 1. */
function generator(degree) {
  const result = new Array(degree - 1).fill(0).concat(1);
  for (let i = 0, root = 1; i < degree; i++, root = multiply(root, 2)) {
    for (let j = 0; j < degree; j++) result[j] = multiply(result[j], root) ^ (result[j + 1] ?? 0);
  }
  return result;
}

function remainder(data, divisor) {
  const result = divisor.map(() => 0);
  for (const byte of data) {
    const factor = byte ^ result.shift();
    result.push(0);
    divisor.forEach((coefficient, i) => (result[i] ^= multiply(coefficient, factor)));
  }
  return result;
}

// -- modules ----------------------------------------------------------------------------------
class Code {
  constructor(version) {
    this.version = version;
    this.size = 17 + 4 * version;
    this.rows = Array.from({ length: this.size }, () => new Array(this.size).fill(false));
    this.fixed = Array.from({ length: this.size }, () => new Array(this.size).fill(false)); // not data, so not masked
    this.drawPatterns();
  }

  set(x, y, dark) {
    this.rows[y][x] = dark;
    this.fixed[y][x] = true;
  }

  drawPatterns() {
    for (let i = 0; i < this.size; i++) {
      this.set(6, i, i % 2 === 0);
      this.set(i, 6, i % 2 === 0);
    }
    for (const [x, y] of [[3, 3], [this.size - 4, 3], [3, this.size - 4]]) this.drawFinder(x, y);
    const places = this.alignmentPlaces();
    const last = places.length - 1;
    places.forEach((x, i) => places.forEach((y, j) => {
      const isFinder = (i === 0 && j === 0) || (i === 0 && j === last) || (i === last && j === 0);
      if (!isFinder) this.drawSquares(x, y, 2, (distance) => distance !== 1);
    }));
    this.drawFormat(0); // keeps its place free
    this.drawVersion();
  }

  drawFinder(x, y) {
    this.drawSquares(x, y, 4, (distance) => distance !== 2 && distance !== 4);
  }

  drawSquares(x, y, radius, isDark) {
    for (let dy = -radius; dy <= radius; dy++) {
      for (let dx = -radius; dx <= radius; dx++) {
        const inside = x + dx >= 0 && x + dx < this.size && y + dy >= 0 && y + dy < this.size;
        if (inside) this.set(x + dx, y + dy, isDark(Math.max(Math.abs(dx), Math.abs(dy))));
      }
    }
  }

  alignmentPlaces() {
    if (this.version === 1) return [];
    const count = Math.floor(this.version / 7) + 2;
    const step = this.version === 32 ? 26 : Math.ceil((this.size - 13) / (2 * count - 2)) * 2;
    return [6, ...Array.from({ length: count - 1 }, (_, i) => this.size - 7 - step * (count - 2 - i))];
  }

  /** Two copies of the level (M is 00) and the mask, with their error correction. */
  drawFormat(mask) {
    let rest = mask;
    for (let i = 0; i < 10; i++) rest = (rest << 1) ^ ((rest >>> 9) * 0x537);
    const bits = ((mask << 10) | rest) ^ 0x5412;
    const bit = (i) => ((bits >>> i) & 1) === 1;
    for (let i = 0; i <= 5; i++) this.set(8, i, bit(i));
    this.set(8, 7, bit(6));
    this.set(8, 8, bit(7));
    this.set(7, 8, bit(8));
    for (let i = 9; i < 15; i++) this.set(14 - i, 8, bit(i));
    for (let i = 0; i < 8; i++) this.set(this.size - 1 - i, 8, bit(i));
    for (let i = 8; i < 15; i++) this.set(8, this.size - 15 + i, bit(i));
    this.set(8, this.size - 8, true);
  }

  drawVersion() {
    if (this.version < 7) return;
    let rest = this.version;
    for (let i = 0; i < 12; i++) rest = (rest << 1) ^ ((rest >>> 11) * 0x1f25);
    const bits = (this.version << 12) | rest;
    for (let i = 0; i < 18; i++) {
      const dark = ((bits >>> i) & 1) === 1;
      const [a, b] = [this.size - 11 + (i % 3), Math.floor(i / 3)];
      this.set(a, b, dark);
      this.set(b, a, dark);
    }
  }

  /** Fill the free modules: two columns at a time from the right, up and down in turn. */
  drawData(codewords) {
    let i = 0;
    for (let right = this.size - 1; right >= 1; right -= 2) {
      if (right === 6) right = 5; // the timing pattern
      for (let step = 0; step < this.size; step++) {
        const y = ((right + 1) & 2) === 0 ? this.size - 1 - step : step;
        for (const x of [right, right - 1]) {
          if (this.fixed[y][x] || i >= codewords.length * 8) continue;
          this.rows[y][x] = ((codewords[i >>> 3] >>> (7 - (i & 7))) & 1) === 1;
          i++;
        }
      }
    }
  }

  masked(mask) {
    this.drawFormat(mask);
    return this.rows.map((row, y) => row.map((dark, x) => dark !== (!this.fixed[y][x] && MASKS[mask](x, y))));
  }

  withBestMask() {
    let best = null;
    for (let mask = 0; mask < MASKS.length; mask++) {
      const rows = this.masked(mask);
      const score = penalty(rows);
      if (best === null || score < best.score) best = { rows, score };
    }
    return best.rows;
  }
}

// -- the choice of the mask -------------------------------------------------------------------
function penalty(rows) {
  const columns = rows.map((_, x) => rows.map((row) => row[x]));
  const lines = [...rows, ...columns];
  return sum(lines.map(runs)) + sum(lines.map(findersIn)) * 40 + squares(rows) * 3 + balance(rows) * 10;
}

function sum(numbers) {
  return numbers.reduce((a, b) => a + b, 0);
}

/** Five modules of one colour in a line count 3, and each further one 1. */
function runs(line) {
  let score = 0;
  for (let start = 0, i = 1; i <= line.length; i++) {
    if (i < line.length && line[i] === line[start]) continue;
    if (i - start >= 5) score += i - start - 2;
    start = i;
  }
  return score;
}

/** The number of patterns in a line that look like a part of a finder. */
function findersIn(line) {
  const text = line.map(Number).join("");
  let count = 0;
  for (const pattern of ["10111010000", "00001011101"]) {
    for (let at = text.indexOf(pattern); at >= 0; at = text.indexOf(pattern, at + 1)) count++;
  }
  return count;
}

function squares(rows) {
  let count = 0;
  for (let y = 1; y < rows.length; y++) {
    for (let x = 1; x < rows.length; x++) {
      const dark = rows[y][x];
      if (dark === rows[y][x - 1] && dark === rows[y - 1][x] && dark === rows[y - 1][x - 1]) count++;
    }
  }
  return count;
}

/** The distance of the share of dark modules from one half, in steps of 5 %. */
function balance(rows) {
  const dark = sum(rows.flat().map(Number));
  const total = rows.length ** 2;
  return Math.floor(Math.abs(20 * dark - 10 * total) / total);
}
