// What a document can run in its frame: its own scripts only, each with a guard before it.
//
// No policy of a browser covers WebRTC, whose connections reach other hosts. A document could make a frame within its frame,
// where the constructors are there again. So the policy allows scripts by their hashes, and those scripts begin by removing
// the constructors from where they run. Attributes such as onclick have no hash, and do not run. A module can declare a
// function with the name `window` that exists before its first line; then nothing of it runs.

{ // leaves nothing but `guarded` to the scripts after it
  const GUARD = 'if (window.window !== window) throw "window is another name here"; for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection"]) Object.defineProperty(window, name, { value: undefined, writable: false, configurable: false });\n';
  const SCRIPT = /^(module|(text|application)\/(x-)?(java|ecma)script)?$/i;
  const STRICT = /^\s*(["'])use strict\1/;

  /** The document, so that it can be put into a frame. */
  globalThis.guarded = (html) => {
    const page = new DOMParser().parseFromString(html, "text/html"), hashes = [];
    for (const script of page.querySelectorAll("script")) {
      if (!SCRIPT.test(script.type ?? "")) continue;
      const code = script.textContent;
      script.textContent = (STRICT.test(code) ? '"use strict"; ' : "") + GUARD + code;
      hashes.push(`'sha256-${btoa(String.fromCharCode(...sha256(new TextEncoder().encode(script.textContent))))}'`);
    }
    const rules = `script-src ${hashes.join(" ") || "'none'"}`;
    // As text, since names in a document can hide the properties of `page`. It holds for everything after it.
    return `<!doctype html><meta http-equiv="Content-Security-Policy" content="${rules}"><meta http-equiv="x-dns-prefetch-control" content="off">${page.documentElement.outerHTML}`;
  };

  // crypto.subtle is missing where a page comes over plain HTTP, and gives its answer later.
  const PRIMES = Array.from({ length: 312 }, (_, i) => i).filter((n) => n > 1 && !Array.from({ length: n }, (_, d) => d).some((d) => d > 1 && d * d <= n && n % d === 0));
  const fraction = (root) => Math.floor((root - Math.floor(root)) * 2 ** 32);
  const FIRST = PRIMES.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));
  const ROUNDS = PRIMES.map((prime) => fraction(Math.cbrt(prime)));
  const turn = (word, by) => (word >>> by) | (word << (32 - by));

  /** The 32 bytes of the SHA-256 of some bytes. */
  const sha256 = (bytes) => {
    const padded = new DataView(new ArrayBuffer(((bytes.length + 72) >> 6) << 6));
    new Uint8Array(padded.buffer).set(bytes);
    padded.setUint8(bytes.length, 0x80);
    padded.setUint32(padded.byteLength - 8, Math.floor(bytes.length / 2 ** 29));
    padded.setUint32(padded.byteLength - 4, bytes.length << 3);
    const sum = Int32Array.from(FIRST), words = new Int32Array(64);
    for (let at = 0; at < padded.byteLength; at += 64) {
      let [a, b, c, d, e, f, g, last] = sum;
      for (let i = 0; i < 64; i += 1) {
        if (i < 16) words[i] = padded.getInt32(at + i * 4);
        else {
          const early = words[i - 15], late = words[i - 2];
          words[i] = words[i - 16] + words[i - 7] + (turn(early, 7) ^ turn(early, 18) ^ (early >>> 3)) + (turn(late, 17) ^ turn(late, 19) ^ (late >>> 10));
        }
        const one = (last + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + ROUNDS[i] + words[i]) | 0;
        const two = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        [last, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
      }
      [a, b, c, d, e, f, g, last].forEach((word, i) => { sum[i] += word; });
    }
    const result = new DataView(new ArrayBuffer(32));
    sum.forEach((word, i) => result.setInt32(i * 4, word));
    return new Uint8Array(result.buffer);
  };
}
