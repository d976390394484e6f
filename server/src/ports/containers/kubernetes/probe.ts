import { randomBytes } from 'node:crypto'
import type { Clock } from '../../../kit/clock.ts'
import type { Api } from './api.ts'
import { isStatus } from './faults.ts'
import type { Entry, Pod } from './objects.ts'
import type { PodSettings } from './pod.ts'
import { installLabel, kindLabel, networkLabel, ownLabels } from './record.ts'
import { untilObjects } from './until.ts'

/** `problem` is a sentence for people; null if the cluster enforces network policies. */
export type ProbeResult = { isEnforced: boolean; problem: string | null }

export type ProbeDeps = {
  api: Api
  install: string
  clock: Pick<Clock, 'now' | 'wait'>
  settings: Pick<PodSettings, 'nodeSelector' | 'tolerations' | 'imagePullSecrets'>
  /** An image with a shell and bash or nc, such as the agents'. */
  image: string
}

/** Exit codes of the script. */
const connected = 0
const blocked = 3
const neither = 4
const probeLabel = 'roost.probe'
/** Includes pulling the image to two nodes. */
const probeSeconds = 120
/** Probes that were interrupted are removed by a later one. */
const staleMs = 10 * 60_000

/**
 * Some network plugins apply a policy a few seconds after the start of a pod, so the script repeats its attempts:
 * `blocked` after two failures in a row, `connected` after ten successes, or immediately with `once`.
 */
const script = `host=$1; port=$2; mode=$3; good=0; bad=0; count=0
attempt() {
  if [ -x /bin/bash ]; then timeout 3 /bin/bash -c 'exec 3<>/dev/tcp/$0/$1' "$host" "$port" 2>/dev/null
  else nc -w 3 "$host" "$port" </dev/null >/dev/null 2>&1; fi
}
while [ $count -lt 20 ]; do
  count=$((count + 1))
  if attempt; then
    good=$((good + 1)); bad=0
    if [ "$mode" = once ] || [ $good -ge 10 ]; then exit ${connected}; fi
  else
    bad=$((bad + 1))
    if [ "$mode" = repeated ] && [ $bad -ge 2 ]; then exit ${blocked}; fi
  fi
  sleep 1
done
exit ${neither}`

/**
 * Tests whether the policy `probe` has an effect; it must exist. A pod that it selects must not reach the platform,
 * and one that it does not select must. Removes both pods. Throws `ContainerError`.
 */
export async function probePolicies(
  deps: ProbeDeps,
  target: { address: string; port: number },
): Promise<ProbeResult> {
  const { api, install, clock } = deps
  const run = randomBytes(4).toString('hex')
  const selection = { labelSelector: `${installLabel}=${install},${probeLabel}=${run}` }
  await removeStale(deps)
  try {
    for (const role of ['free', 'denied'] as const) await api.create('pods', podFor(deps, run, role, target))
    const codes = await untilObjects<Pod, { free: number; denied: number }>(
      ...([api, 'pods', selection, { seconds: probeSeconds, clock }] as const),
      (seen) => {
        const [free, denied] = ['free', 'denied'].map((role) =>
          exitCode(seen.find(({ object }) => object.metadata.name.endsWith(role))?.object),
        )
        return free === undefined || denied === undefined ? null : { free, denied }
      },
    )
    return judge(codes, target)
  } finally {
    for (const role of ['free', 'denied']) await remove(api, `roost-probe-${run}-${role}`)
  }
}

function judge(
  codes: { free: number; denied: number } | null,
  { address, port }: { address: string; port: number },
): ProbeResult {
  const no = (problem: string) => ({ isEnforced: false, problem })
  if (codes === null)
    return no('The pods that test network policies did not run in time. Check that the image can be pulled.')
  if (codes.free !== connected)
    return no(
      `Whether network policies work is unknown, because pods do not reach the platform at ${address}:${port}. ` +
        'Set ROOST_KUBERNETES_PLATFORM_HOST.',
    )
  if (codes.denied === blocked) return { isEnforced: true, problem: null }
  return no(
    'The cluster stores network policies but does not enforce them. Install a network plugin that does, such as Calico or Cilium.',
  )
}

function exitCode(pod: Pod | undefined): number | undefined {
  return pod?.status?.containerStatuses?.[0]?.state?.terminated?.exitCode
}

function podFor(
  { install, settings, image }: ProbeDeps,
  run: string,
  role: 'free' | 'denied',
  { address, port }: { address: string; port: number },
) {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `roost-probe-${run}-${role}`,
      labels: {
        ...ownLabels(install),
        [kindLabel]: 'probe',
        [probeLabel]: run,
        [networkLabel]: role === 'denied' ? 'probe' : 'none',
      },
    },
    spec: {
      restartPolicy: 'Never',
      activeDeadlineSeconds: probeSeconds,
      terminationGracePeriodSeconds: 1,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      nodeSelector: { ...settings.nodeSelector },
      tolerations: [...settings.tolerations],
      imagePullSecrets: settings.imagePullSecrets.map((name) => ({ name })),
      securityContext: { runAsUser: 65_534, runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'probe',
          image,
          imagePullPolicy: 'IfNotPresent',
          command: [
            ...['/bin/sh', '-c', script, 'probe', address, String(port)],
            role === 'free' ? 'once' : 'repeated',
          ],
          resources: {
            requests: { cpu: '10m', memory: '16Mi' },
            limits: { cpu: '100m', memory: '64Mi' },
          },
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
        },
      ],
    },
  }
}

async function removeStale({ api, install, clock }: ProbeDeps): Promise<void> {
  const labelSelector = `${installLabel}=${install},${kindLabel}=probe`
  const { items } = await api.list<Entry>('pods', { labelSelector }, { onlyMetadata: true })
  for (const { metadata } of items) {
    const age = clock.now().getTime() - Date.parse(metadata.creationTimestamp ?? '')
    if (age > staleMs) await remove(api, metadata.name)
  }
}

async function remove(api: Api, name: string): Promise<void> {
  await api.delete('pods', name, { graceSeconds: 1 }).catch((error: unknown) => {
    if (!isStatus(error, 404)) throw error
  })
}
