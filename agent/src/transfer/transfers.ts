import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { fileChunkBytes } from '@roost/contracts/link/messages'
import { archivedFolder, type ExportReadAnswer, type TransferAnswer } from '@roost/contracts/link/transfer'
import type { Clock } from '../kit/clock.ts'
import { LinkFault } from '../link/link.ts'
import type { Identities } from '../processes/identity.ts'
import type { Paths } from '../workspace/paths.ts'
import { startTar, type Tar } from './tar.ts'
import { walkWorkspace } from './walk.ts'

/** Exports and imports of the whole workspace. Each holds one chunk in memory; tar waits for the platform. */
export type Transfers = {
  openExport(withCredentials: boolean): Promise<TransferAnswer>
  read(handle: string, offset: number): Promise<ExportReadAnswer>
  openImport(): Promise<TransferAnswer>
  write(handle: string, offset: number, bytes: Buffer): Promise<void>
  commit(handle: string): Promise<void>
  close(handle: string): void
}

type Transfer = {
  tar: Tar
  output: AsyncIterator<Buffer, undefined>
  kind: 'export' | 'import'
  /** End of the last chunk. */
  offset: number
  /** Read from tar, but not part of a chunk yet. */
  rest: Buffer
  cancel: () => void
}

/** The platform asks for the next chunk within seconds, unless its own caller is slow. */
const idleMs = 10 * 60_000
const maxTransfers = 4

export function createTransfers({
  paths,
  identities,
  clock,
}: {
  paths: Paths
  identities: Identities
  clock: Pick<Clock, 'after'>
}): Transfers {
  const transfers = new Map<string, Transfer>()

  function start(kind: Transfer['kind'], args: string[]): { handle: string; transfer: Transfer } {
    if (transfers.size >= maxTransfers)
      throw new LinkFault('io_error', 'Too many exports and imports are running.')
    const handle = randomUUID()
    const tar = startTar(identities, paths.home, args)
    const output: Transfer['output'] = tar.output[Symbol.asyncIterator]()
    const transfer = { tar, output, kind, offset: 0, rest: Buffer.alloc(0), cancel: () => {} }
    transfers.set(handle, transfer)
    touch(handle, transfer)
    return { handle, transfer }
  }

  function touch(handle: string, transfer: Transfer): void {
    transfer.cancel()
    transfer.cancel = clock.after(idleMs, () => close(handle))
  }

  function close(handle: string): void {
    const transfer = transfers.get(handle)
    if (!transfer) return
    transfers.delete(handle)
    transfer.cancel()
    // Ends a tar that waits for more input or for a reader.
    transfer.tar.process.stdin.destroy()
    transfer.tar.process.stdout.destroy()
    transfer.tar.output.destroy()
  }

  function find(handle: string, kind: Transfer['kind'], offset: number | null): Transfer {
    const transfer = transfers.get(handle)
    if (transfer?.kind !== kind)
      throw new LinkFault('file_not_found', `The ${kind} does not exist or has expired.`)
    if (offset !== null && transfer.offset !== offset)
      throw new LinkFault(
        'invalid_message',
        `The chunk does not continue the ${kind} at the expected offset.`,
      )
    touch(handle, transfer)
    return transfer
  }

  /** Throws the reason for which tar ended before its work was done. */
  async function failed({ tar }: Transfer): Promise<never> {
    const { errors } = await tar.ended
    const isFull = /No space left|Disk quota exceeded/.test(errors)
    const line = errors.split('\n').at(-1)?.slice(0, 300) || 'tar was ended.'
    throw new LinkFault('io_error', isFull ? 'The workspace is full.' : line)
  }

  return {
    close,

    async openExport(withCredentials) {
      const { handle, transfer } = start('export', [
        '--create',
        '--format=gnu',
        '--null',
        '--verbatim-files-from',
        '--no-recursion',
        '--files-from=-',
        '--ignore-failed-read',
        `--transform=flags=rhS;s,^\\./,${archivedFolder},`,
      ])
      Readable.from(namesOf(walkWorkspace(paths.home, withCredentials))).pipe(transfer.tar.process.stdin)
      return { handle }
    },

    async read(handle, offset) {
      const transfer = find(handle, 'export', offset)
      const pieces = [transfer.rest]
      let length = transfer.rest.length
      let isEnded = false
      while (length < fileChunkBytes && !isEnded) {
        const { value, done } = await transfer.output.next().catch(() => ({ value: undefined, done: true }))
        isEnded = done === true
        if (!value) continue
        pieces.push(value)
        length += value.length
      }
      const bytes = Buffer.concat(pieces, length)
      const chunk = bytes.subarray(0, fileChunkBytes)
      transfer.rest = Buffer.from(bytes.subarray(fileChunkBytes))
      transfer.offset += chunk.length
      const eof = isEnded && transfer.rest.length === 0
      if (!eof) return { data_base64: chunk.toString('base64'), eof, unreadable: 0 }
      const { code, unreadable } = await transfer.tar.ended
      // 1: a file changed while it was read.
      if (code !== 0 && code !== 1) await failed(transfer).finally(() => close(handle))
      close(handle)
      return { data_base64: chunk.toString('base64'), eof, unreadable }
    },

    async openImport() {
      return {
        handle: start('import', [
          '--extract',
          '--same-permissions',
          '--no-same-owner',
          '--delay-directory-restore',
          `--transform=flags=rhS;s,^${archivedFolder},,`,
        ]).handle,
      }
    },

    async write(handle, offset, bytes) {
      const transfer = find(handle, 'import', offset)
      const { stdin } = transfer.tar.process
      transfer.offset += bytes.length
      await new Promise<void>((resolve) => stdin.write(bytes, () => resolve()))
      if (stdin.destroyed) await failed(transfer).finally(() => close(handle))
    },

    async commit(handle) {
      const transfer = find(handle, 'import', null)
      transfer.tar.process.stdin.end()
      const { code } = await transfer.tar.ended
      if (code !== 0) await failed(transfer).finally(() => close(handle))
      close(handle)
    },
  }
}

async function* namesOf(paths: AsyncIterable<string>): AsyncGenerator<Buffer> {
  for await (const path of paths) yield Buffer.from(`./${path}\0`, 'latin1')
}
