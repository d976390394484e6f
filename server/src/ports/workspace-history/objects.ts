import type { GitProcess, GitProgram } from './program.ts'

/** Reads objects through one long-running process, in the order of the requests. */
export type Objects = {
  /** Returns the content; null for a missing object. Only for trees and small files. */
  read(name: string): Promise<Buffer | null>
  /** Returns the object's full name; null for a missing one. */
  find(name: string): Promise<{ name: string; type: string; size: number } | null>
  close(): Promise<void>
}

type Request = {
  hasContent: boolean
  done(found: { name: string; type: string; size: number; content: Buffer } | null): void
  fail(error: Error): void
}

export function createObjects(git: GitProgram): Objects {
  let running: GitProcess | null = null
  let waiting: Request[] = []
  let chunks: Buffer[] = []
  let length = 0
  /** Bytes that the next answer needs at least. */
  let needed = 1

  function start(): GitProcess {
    const started = git.start(['cat-file', '--batch-command'])
    started.child.stdout.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      length += chunk.length
      while (length >= needed && waiting.length > 0 && settle()) {}
    })
    void started.ended.then((fault) => {
      if (running !== started) return
      const failed = waiting
      running = null
      waiting = []
      chunks = []
      length = 0
      needed = 1
      for (const { fail } of failed) fail(new Error(`git cat-file ended: ${fault ?? 'no reason'}`))
    })
    return started
  }

  /** Answers the oldest request. Returns false until its answer is complete. */
  function settle(): boolean {
    const bytes = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, length)
    chunks = [bytes]
    const end = bytes.indexOf(0x0a)
    if (end === -1) {
      needed = length + 1
      return false
    }
    const [name = '', type = '', size = ''] = bytes.toString('latin1', 0, end).split(' ')
    const isFound = /^\d+$/.test(size)
    const hasContent = isFound && waiting[0]?.hasContent === true
    const total = end + 1 + (hasContent ? Number(size) + 1 : 0)
    if (length < total) {
      needed = total
      return false
    }
    const content = Buffer.from(bytes.subarray(end + 1, hasContent ? total - 1 : total))
    const rest = bytes.subarray(total)
    chunks = rest.length > 0 ? [rest] : []
    length = rest.length
    needed = 1
    waiting.shift()?.done(isFound ? { name, type, size: Number(size), content } : null)
    return true
  }

  function ask(command: 'info' | 'contents', name: string) {
    if (!/^[0-9a-z/^{}-]+$/.test(name)) return Promise.resolve(null)
    running ??= start()
    const { child } = running
    return new Promise<Parameters<Request['done']>[0]>((done, fail) => {
      waiting.push({ hasContent: command === 'contents', done, fail })
      child.stdin.write(`${command} ${name}\n`)
    })
  }

  return {
    read: async (name) => (await ask('contents', name))?.content ?? null,
    find: (name) => ask('info', name),
    async close() {
      const last = running
      running?.child.stdin.end()
      await last?.ended
    },
  }
}
