import { parseArgs } from 'node:util'
import { startModelServer } from './index.ts'

const USAGE =
  'usage: node test-support/src/model/start.ts --port N [--host 127.0.0.1] [--log FILE] [--demo]   (port 0: any free one)'

try {
  const server = await startModelServer(readOptions())
  process.stdout.write(`model server listening on ${server.url}\n`)
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => void server.close())
  }
} catch (cause) {
  process.stderr.write(`${cause instanceof Error ? cause.message : String(cause)}\n`)
  process.exitCode = 1
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      port: { type: 'string' },
      host: { type: 'string' },
      log: { type: 'string' },
      demo: { type: 'boolean' },
    },
  })
  const port = Number(values.port)
  if (!/^\d+$/.test(values.port ?? '') || port > 65_535) throw new Error(USAGE)
  return { port, host: values.host, logFile: values.log, demo: values.demo }
}
