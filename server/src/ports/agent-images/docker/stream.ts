import { TextDecoder } from 'node:util'

/** One line of the engine's output during a build, pull or import. */
export type EngineLine = {
  stream?: string
  status?: string
  id?: string
  error?: string
  progressDetail?: { current?: number; total?: number }
}

/** Yields the JSON lines of an engine's answer as they arrive. */
export async function* engineLines(answer: NodeJS.ReadableStream): AsyncGenerator<EngineLine> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const chunk of answer) {
    const lines = (rest + decodeChunk(decoder, chunk)).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.trim() !== '') yield parse(line)
  }
  if (rest.trim() !== '') yield parse(rest)
}

function decodeChunk(decoder: TextDecoder, chunk: string | Buffer): string {
  return typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })
}

function parse(line: string): EngineLine {
  try {
    const value: unknown = JSON.parse(line)
    // The engine's own format; every field is optional.
    return typeof value === 'object' && value !== null ? (value as EngineLine) : {}
  } catch {
    return { stream: line }
  }
}
