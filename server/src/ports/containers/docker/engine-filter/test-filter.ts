import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEngineFilter, type EngineFilterOptions } from './filter.ts'

export type TestFilter = {
  socket: string
  /** Rules of the refused calls so far. */
  refused: string[]
  /** Closes all connections; new ones work. */
  cut(): void
  close(): Promise<void>
}

/** A filter on a socket of its own in front of the engine at `engineSocket`. */
export async function openTestFilter(
  options: Pick<EngineFilterOptions, 'engineSocket' | 'install' | 'isAllowedImage'>,
): Promise<TestFilter> {
  const folder = await mkdtemp(join(tmpdir(), 'roost-filter-'))
  const socket = join(folder, 'filter.sock')
  const refused: string[] = []
  const server = createServer(
    createEngineFilter({
      ...options,
      log: {
        warn: (fields: object) => void refused.push(String((fields as { rule?: string }).rule)),
        error() {},
      },
    }),
  )
  await new Promise<void>((resolve) => server.listen(socket, resolve))
  return {
    socket,
    refused,
    cut: () => server.closeAllConnections(),
    async close() {
      server.close()
      server.closeAllConnections()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
