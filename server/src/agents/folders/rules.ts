import type { AgentStatus } from '@roost/contracts/agents/agent'
import { type ConsumedFolder, type FolderConsumer, mountPathOf } from '@roost/contracts/agents/folders'

/** A publisher's folder with the name it is mounted under. */
export type NamedFolder = { name: string; volume: string }

/** An agent and the folders its container was created with. */
export type Reader = { name: string; status: AgentStatus; made: readonly NamedFolder[] }

/** Empty unless the agent is running. */
function mountedIn({ status, made }: Reader): readonly NamedFolder[] {
  return status === 'running' ? made : []
}

function includes(folders: readonly NamedFolder[], { name, volume }: NamedFolder): boolean {
  return folders.some((other) => other.name === name && other.volume === volume)
}

/** Whether the agent runs with other folders than a start would mount. */
export function needsRestart(reader: Reader, desired: readonly NamedFolder[]): boolean {
  const mounted = mountedIn(reader)
  const isSame = mounted.length === desired.length && desired.every((folder) => includes(mounted, folder))
  return reader.status === 'running' && !isSame
}

/** The folders that a start would mount, then those mounted now that a restart would remove. */
export function consumedBy(
  reader: Reader,
  desired: readonly NamedFolder[],
): (ConsumedFolder & { volume: string })[] {
  const mounted = mountedIn(reader)
  return [
    ...desired.map((folder) => consumed(folder, includes(mounted, folder), 'mounted')),
    ...mounted.filter((folder) => !includes(desired, folder)).map((folder) => consumed(folder, true, 'gone')),
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

/** A reader's state towards one publisher; null if it neither has nor would get the folder. */
export function consumerOf(reader: Reader, publisher: NamedFolder, mayRead: boolean): FolderConsumer | null {
  const mounted = mountedIn(reader).find(({ volume }) => volume === publisher.volume)
  if (!mounted && !mayRead) return null
  return {
    agent_name: reader.name,
    // After the publisher was renamed the folder stays at its old path until the next start.
    mount_path: mountPathOf(mounted?.name ?? publisher.name),
    status: reader.status,
    currently_mounted: mounted !== undefined,
    after_restart: mayRead ? 'mounted' : 'gone',
  }
}
