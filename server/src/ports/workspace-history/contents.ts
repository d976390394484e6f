import type { GitProgram } from './program.ts'

/** Reads many objects through a process of its own, which git fills while the caller works. */
export type Contents = {
  /** Asks for the objects with these names. */
  ask(names: readonly string[]): void
  /** The next object that was asked for. Its pieces are read before the next one. Throws for a missing one. */
  next(): Promise<{ size: number; pieces: AsyncGenerator<Buffer> }>
  close(): Promise<void>
}

export function openContents(git: GitProgram): Contents {
  const { child, ended, kill } = git.start(['cat-file', '--batch'])
  const chunks = child.stdout[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  let rest: Buffer = Buffer.alloc(0)

  async function more(): Promise<void> {
    const { value, done } = await chunks.next()
    if (done) throw new Error(`git cat-file ended: ${(await ended) ?? 'no reason'}`)
    rest = rest.length === 0 ? value : Buffer.concat([rest, value])
  }

  async function line(): Promise<string> {
    let end = rest.indexOf(0x0a)
    for (; end === -1; end = rest.indexOf(0x0a)) await more()
    const text = rest.toString('latin1', 0, end)
    rest = rest.subarray(end + 1)
    return text
  }

  async function* pieces(size: number): AsyncGenerator<Buffer> {
    for (let left = size; left > 0; ) {
      if (rest.length === 0) await more()
      const piece = rest.subarray(0, left)
      rest = rest.subarray(piece.length)
      left -= piece.length
      yield piece
    }
    // Each content ends with a newline.
    await line()
  }

  return {
    ask(names) {
      if (names.length > 0) child.stdin.write(`${names.join('\n')}\n`)
    },
    async next() {
      const header = await line()
      const size = /^[0-9a-f]+ \w+ (\d+)$/.exec(header)?.[1]
      if (size === undefined) throw new Error(`The object ${header} is missing in the history.`)
      return { size: Number(size), pieces: pieces(Number(size)) }
    },
    async close() {
      // It has ended only once its output has.
      child.stdout.destroy()
      kill()
      await ended
    },
  }
}
