import type { Clock } from '../../../kit/clock.ts'
import type { Api } from './api.ts'
import { isStatus, nullIfMissing } from './faults.ts'
import type { Entry, Pod } from './objects.ts'
import { agentContainer } from './pod.ts'
import { type ContainerRecord, kindLabel, ownLabels } from './record.ts'
import { hasEnded, runsOf } from './state.ts'

/** The log of a container's last run, which its node forgets with the pod. */
export type RunLogs = {
  /** The last `tail` lines; empty if no run left any. */
  read(record: ContainerRecord, pods: readonly Pod[], tail: number): Promise<string>
  /** Follows the log of a pod that is about to end. Call `finish` after the container has ended: it stores the log. */
  follow(record: ContainerRecord, pod: Pod): { finish(): Promise<void> }
  /** Stores the log of a pod that has ended, as far as its node still has it. */
  keep(record: ContainerRecord, pod: Pod): Promise<void>
}

const keptLines = 500
const keptBytes = 64 * 1024
/** The last lines of a followed log arrive shortly after the end of the container. */
const endMs = 2_000
const podNote = 'roost.pod'

type StoredLog = Entry & { data?: { log?: string } }

export function createRunLogs(deps: { api: Api; install: string; clock: Pick<Clock, 'wait'> }): RunLogs {
  const { api, install, clock } = deps
  const nameOf = ({ id }: ContainerRecord) => `roost-log-${id}`

  async function stored(record: ContainerRecord): Promise<{ pod: string; text: string } | null> {
    const secret = await api.get<StoredLog>('secrets', nameOf(record)).catch(nullIfMissing)
    if (!secret) return null
    const text = Buffer.from(secret.data?.log ?? '', 'base64').toString('utf8')
    return { pod: secret.metadata.annotations?.[podNote] ?? '', text }
  }

  async function store(record: ContainerRecord, pod: Pod, text: string): Promise<void> {
    const name = nameOf(record)
    const content = { annotations: { [podNote]: pod.metadata.uid } }
    const stringData = { log: text.slice(-keptBytes) }
    const isThere = await api
      .patch('secrets', name, { metadata: content, stringData })
      .then(() => true, nullIfMissing)
    if (isThere) return
    const { uid, name: owner } = record.secret
    await api.create('secrets', {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        ...content,
        name,
        labels: { ...ownLabels(install), [kindLabel]: 'log' },
        ownerReferences: [{ apiVersion: 'v1', kind: 'Secret', name: owner, uid }],
      },
      type: 'roost/log',
      stringData,
    })
  }

  /** Null if neither the API nor the pod's node has the log. */
  async function fromNode(pod: Pod, tailLines: number): Promise<string | null> {
    try {
      const text = await api.log(pod.metadata.name, { container: agentContainer, tailLines })
      return withoutKubeletNote(text)
    } catch (error) {
      // 400: the container has not started yet. 404: the pod was deleted. 500: its node does not answer.
      if (isStatus(error, 400, 404, 500, 502, 503, 504)) return null
      throw error
    }
  }

  return {
    async read(record, pods, tail) {
      const current = pods.find((pod) => !hasEnded(pod) && runsOf(pod).length > 0)
      if (current) return (await fromNode(current, tail)) ?? ''
      const ended = pods.find((pod) => runsOf(pod).length > 0)
      const kept = await stored(record)
      if (kept && (!ended || kept.pod === ended.metadata.uid)) return lastLines(kept.text, tail)
      const text = ended ? await fromNode(ended, tail) : null
      return text ?? lastLines(kept?.text ?? '', tail)
    },

    follow(record, pod) {
      const ending = new AbortController()
      const lines: string[] = []
      let length = 0
      const following = (async () => {
        const query = { container: agentContainer, tailLines: keptLines }
        for await (const line of api.followLog(pod.metadata.name, query, ending.signal)) {
          lines.push(`${line}\n`)
          length += line.length + 1
          while (lines.length > keptLines || (length > keptBytes && lines.length > 1))
            length -= lines.shift()?.length ?? 0
        }
        // The log is optional: after a failure, the lines received so far are stored.
      })().catch(() => {})
      return {
        async finish() {
          await Promise.race([following, clock.wait(endMs, ending.signal)])
          ending.abort()
          await following
          await store(record, pod, withoutKubeletNote(lines.join('')))
        },
      }
    },

    async keep(record, pod) {
      if ((await stored(record))?.pod === pod.metadata.uid) return
      const text = await fromNode(pod, keptLines)
      if (text !== null) await store(record, pod, text)
    },
  }
}

const kubeletNotes = [
  /(^|\n)unable to retrieve container logs for \S+:\/\/[0-9a-f]{64}\n?$/,
  /(^|\n)rpc error: code = NotFound desc = an error occurred when try to find container "[0-9a-f]{64}": not found\n?$/,
  /(^|\n)failed to try resolving symlinks in path "\/var\/log\/pods\/[^"\n]+": [^\n]*no such file or directory\n?$/,
]

/** Kubelets end the log of a container that they have removed with one of these sentences, and success. */
export function withoutKubeletNote(text: string): string {
  return kubeletNotes.reduce((rest, note) => rest.replace(note, '$1'), text)
}

function lastLines(text: string, tail: number): string {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return tail <= 0
    ? ''
    : lines
        .slice(-tail)
        .map((line) => `${line}\n`)
        .join('')
}
