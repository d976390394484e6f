import type { AgentStatus } from '@roost/contracts/agents/agent'
import { type ConsumedFolder, type FolderConsumer, mountPathOf } from '@roost/contracts/agents/folders'

/** A publisher's folder, under the name that it is mounted by. */
export type NamedFolder = { name: string; volume: string }

/** An agent and what its container was made with. */
export type Reader = { name: string; status: AgentStatus; made: readonly NamedFolder[] }

/** Nothing while it does not run. */
function mountedIn({ status, made }: Reader): readonly NamedFolder[] {
  return status === 'running' ? made : []
}

function holds(folders: readonly NamedFolder[], { name, volume }: NamedFolder): boolean {
  return folders.some((other) => other.name === name && other.volume === volume)
}

/** It runs with other folders than a start would give it. */
export function needsRestart(reader: Reader, wanted: readonly NamedFolder[]): boolean {
  const mounted = mountedIn(reader)
  const isSame = mounted.length === wanted.length && wanted.every((folder) => holds(mounted, folder))
  return reader.status === 'running' && !isSame
}

/** What a start would mount, and after that what is mounted and goes with it. */
export function consumedBy(
  reader: Reader,
  wanted: readonly NamedFolder[],
): (ConsumedFolder & { volume: string })[] {
  const mounted = mountedIn(reader)
  return [
    ...wanted.map((folder) => consumed(folder, holds(mounted, folder), 'mounted')),
    ...mounted.filter((folder) => !holds(wanted, folder)).map((folder) => consumed(folder, true, 'gone')),
  ]
}

function consumed(
  { name, volume }: NamedFolder,
  currently_mounted: boolean,
  after_restart: ConsumedFolder['after_restart'],
) {
  return {
    source_agent: name,
    mount_path: mountPathOf(name),
    access_mode: 'rw' as const,
    currently_mounted,
    after_restart,
    volume,
  }
}

/** How a reader stands to one publisher; null: it neither has the folder nor would get it. */
export function consumerOf(reader: Reader, publisher: NamedFolder, mayRead: boolean): FolderConsumer | null {
  const held = mountedIn(reader).find(({ volume }) => volume === publisher.volume)
  if (!held && !mayRead) return null
  return {
    agent_name: reader.name,
    // Of a publisher with a new name: where it still stands, until the start that moves it.
    mount_path: mountPathOf(held?.name ?? publisher.name),
    status: reader.status,
    currently_mounted: held !== undefined,
    after_restart: mayRead ? 'mounted' : 'gone',
  }
}
