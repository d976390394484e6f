const name = process.argv[2]; globalThis.gc?.(); const r0 = process.memoryUsage(); const t = performance.now()
if (name !== 'none') await import(name); const dt = performance.now() - t; globalThis.gc(); const r1 = process.memoryUsage()
console.log(name.padEnd(40), 'rss', ((r1.rss - r0.rss) / 1e6).toFixed(1), 'heap', ((r1.heapUsed - r0.heapUsed) / 1e6).toFixed(1), 'ms', dt.toFixed(0))
