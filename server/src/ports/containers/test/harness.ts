import { randomBytes } from 'node:crypto'
import { ContainerError, type ContainerEvent, type ContainerSpec, type Containers } from '../port.ts'

/** The adapter under test and control over its engine. */
export type Harness = {
  containers: Containers
  /** Another installation on the same engine. */
  neighbour: Containers
  /** The same engine without the filter that is in front of `containers`. */
  unfiltered?: Containers
  /** An adapter whose engine does not answer. */
  away: Containers
  /** An image that runs `ROOST_TEST_SCRIPT`, or simulates `ROOST_TEST_BEHAVIOUR` in the fake. */
  image: string
  /** True when the adapter can recognize out-of-memory kills on this host. */
  tellsMemoryKills: boolean
  /** True when containers have a writable layer. */
  hasLayers: boolean
  /**
   * True when the containers run on machines of a cluster: these pull images themselves, measure nothing for the
   * platform, and keep only the log of the last run.
   */
  runsElsewhere: boolean
  /** Kills the container's first process behind the engine's back. */
  crash(id: string): Promise<void>
  /** Breaks the event stream of listeners; the engine keeps running. */
  interruptEvents(): Promise<void>
  close(): Promise<void>
}

/** What the suite's containers do: a shell script, or its name for the fake. */
export const behaviours = {
  stay: 'trap "exit 0" TERM; echo ready; while :; do sleep 3600 & wait $!; done',
  stubborn: 'trap "" TERM; echo ready; while :; do sleep 3600 & wait $!; done',
  talk: 'for i in 1 2 3 4 5; do echo "line $i"; done; trap "exit 0" TERM; echo ready; while :; do sleep 3600 & wait $!; done',
  fail: 'echo "cannot go on"; exit 3',
  // Runs for a moment first: Docker watches for out-of-memory kills only after the start.
  devour: 'echo eating; sleep 1; x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done',
  publish:
    'echo published > /home/developer/shared-out/note; trap "exit 0" TERM; echo ready; while :; do sleep 3600 & wait $!; done',
  // Shows what it can read and change in another agent's folder and next to it.
  consume: [
    'cd /home/developer/shared-in; for name in *; do echo "saw $name"; done',
    'cat one/note 2>/dev/null || echo nothing',
    '(echo x > one/note) 2>/dev/null && echo overwritten',
    '(echo x > one/mine) 2>/dev/null && echo written',
    'rm one/note </dev/null 2>/dev/null && echo removed',
    '(echo x > mine) 2>/dev/null && echo made beside',
    'rmdir one 2>/dev/null && echo unmade',
    'trap "exit 0" TERM; echo ready; while :; do sleep 3600 & wait $!; done',
  ].join('; '),
  // Writes 3 MB into its volume and, where it can, 2 MB beside it.
  store:
    'head -c 3000000 /dev/urandom > /home/developer/big; (head -c 2000000 /dev/urandom > /big) 2>/dev/null; trap "exit 0" TERM; echo ready; while :; do sleep 3600 & wait $!; done',
  remember:
    'cat /home/developer/note 2>/dev/null || echo empty; echo kept > /home/developer/note; trap "exit 0" TERM; echo ready; while :; do sleep 3600 & wait $!; done',
}
export type Behaviour = keyof typeof behaviours

/** A container of the suite; every test uses its own name. */
export function specOf(
  image: string,
  behaviour: Behaviour,
  more: Partial<ContainerSpec> = {},
): ContainerSpec {
  return {
    name: uniqueName(),
    image,
    labels: { 'roost.platform': 'agent' },
    cpus: 1,
    memoryBytes: 256 * 1024 * 1024,
    maxProcesses: 256,
    tmpBytes: 16 * 1024 * 1024,
    fullCapabilities: false,
    mounts: [],
    ssh: null,
    ...more,
    env: { ROOST_TEST_BEHAVIOUR: behaviour, ROOST_TEST_SCRIPT: behaviours[behaviour], ...more.env },
  }
}

/** Labels of a volume that other containers may mount. */
export const sharedLabels = { 'roost.platform': 'agent-shared' }

/** Generous, for a real engine on a busy machine. */
export const timeoutMs = 60_000

export function uniqueName(): string {
  return `suite-${randomBytes(6).toString('hex')}`
}

/** Collects events from now on; `next` returns the first matching one since the last call. */
export function collect(containers: Containers) {
  const controller = new AbortController()
  const collected: ContainerEvent[] = []
  let at = 0
  let wake = () => {}
  const ended = (async () => {
    for await (const event of containers.events(controller.signal)) {
      collected.push(event)
      wake()
    }
  })()
  return {
    seen: collected,
    async next<T extends ContainerEvent['type']>(
      type: T,
      id?: string,
    ): Promise<Extract<ContainerEvent, { type: T }>> {
      const deadline = AbortSignal.timeout(timeoutMs)
      for (;;) {
        for (; at < collected.length; at += 1) {
          const event = collected[at]
          if (event?.type === type && (id === undefined || ('id' in event && event.id === id))) {
            at += 1
            // The type was compared one line above; the compiler cannot derive it.
            return event as Extract<ContainerEvent, { type: T }>
          }
        }
        await new Promise<void>((resolve, reject) => {
          wake = resolve
          deadline.addEventListener('abort', () =>
            reject(new Error(`no event ${type} came; seen: ${JSON.stringify(collected)}`)),
          )
        })
      }
    },
    async stop() {
      controller.abort()
      await ended
    },
  }
}

/** Repeats the check until it is true. */
export async function until(check: () => Promise<boolean>, limitMs = timeoutMs): Promise<void> {
  const deadline = Date.now() + limitMs
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error(`never became true: ${check}`)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

export function hasFault(fault: ContainerError['fault']) {
  return (error: unknown) => error instanceof ContainerError && error.fault === fault
}

/** The opened harness of a suite, and shortcuts for its containers. */
export type Opened = {
  readonly harness: Harness
  readonly containers: Containers
  spec(behaviour: Behaviour, more?: Partial<ContainerSpec>): ContainerSpec
  /** Resolves when the container's script is ready. */
  isReady(id: string): Promise<void>
  /** Creates and starts a container, and waits until it is ready. */
  running(behaviour: Behaviour, more?: Partial<ContainerSpec>): Promise<string>
}
