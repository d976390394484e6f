import { Resolver } from 'node:dns/promises'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Api, KubeObject } from './api.ts'
import { clusterDomain } from './configuration.ts'
import { type Daemon, lastLines, startDaemon } from './processes.ts'
import type { HeldSlot } from './record.ts'

const readyTimeoutMs = 10_000

type Service = KubeObject & { spec: { clusterIP?: string; publishNotReadyAddresses?: boolean } }
type Address = { ip: string; hostname?: string }
type Endpoints = KubeObject & { subsets?: { addresses?: Address[]; notReadyAddresses?: Address[] }[] }

/**
 * Returns the lines `ADDRESS NAME` of all Services: the address of the Service, or those of its pods if it is
 * headless. Pods with a host name below a headless Service have a name of their own.
 */
export function hostLines(services: readonly Service[], endpoints: readonly Endpoints[]): string[] {
  const key = ({ metadata }: KubeObject) => `${metadata.namespace}/${metadata.name}`
  const subsets = new Map(endpoints.map((each) => [key(each), each.subsets ?? []]))
  const lines = services.flatMap((service) => {
    const { clusterIP, publishNotReadyAddresses } = service.spec
    const name = `${service.metadata.name}.${service.metadata.namespace}.svc.${clusterDomain}`
    // A Service of type ExternalName has no address; this DNS does not offer it.
    if (!clusterIP) return []
    if (clusterIP !== 'None') return [`${clusterIP} ${name}`]
    return (subsets.get(key(service)) ?? []).flatMap(({ addresses = [], notReadyAddresses = [] }) =>
      [...addresses, ...(publishNotReadyAddresses ? notReadyAddresses : [])].flatMap(({ ip, hostname }) =>
        hostname ? [`${ip} ${name}`, `${ip} ${hostname}.${name}`] : [`${ip} ${name}`],
      ),
    )
  })
  return lines.sort()
}

/**
 * Starts the DNS of the cluster, on the machine's address in it. Other names are resolved as on this machine.
 * Without the API it keeps answering with the last state.
 */
export async function startNames(
  api: Api,
  held: HeldSlot,
  { env, signal }: { env: NodeJS.ProcessEnv; signal: AbortSignal },
): Promise<string> {
  const hosts = join(held.folder, 'hosts')
  const log = join(held.folder, 'dnsmasq.log')
  await writeFile(hosts, '')
  const flags = [
    '--keep-in-foreground',
    '--conf-file=/dev/null',
    '--log-facility=-',
    '--pid-file=',
    '--user=root',
    '--no-hosts',
    `--addn-hosts=${hosts}`,
    `--local=/${clusterDomain}/`,
    '--no-negcache',
    `--listen-address=${held.slot.hostAddress}`,
    '--bind-interfaces',
  ]
  const daemon = await startDaemon('dnsmasq', flags, { log, env })
  await held.add(daemon.pid)
  await untilAnswers(held.slot.hostAddress, daemon, log)
  let services: readonly Service[] = []
  let endpoints: readonly Endpoints[] = []
  let written = ''
  let writing = Promise.resolve()
  const update = () => {
    const text = `${hostLines(services, endpoints).join('\n')}\n`
    if (text === written) return
    written = text
    writing = writing.then(async () => {
      await writeFile(`${hosts}.new`, text)
      await rename(`${hosts}.new`, hosts)
      // It reads the file again.
      daemon.child.kill('SIGHUP')
    })
  }
  const onServices = (objects: readonly Service[]) => {
    services = objects
    update()
  }
  const onEndpoints = (objects: readonly Endpoints[]) => {
    endpoints = objects
    update()
  }
  void api.follow('/api/v1/services', onServices, signal)
  void api.follow('/api/v1/endpoints', onEndpoints, signal)
  return log
}

/** A SIGHUP before it listens would end it. */
async function untilAnswers(address: string, daemon: Daemon, log: string): Promise<void> {
  const resolver = new Resolver({ timeout: 500, tries: 1 })
  resolver.setServers([address])
  const deadline = performance.now() + readyTimeoutMs
  for (;;) {
    const code = await resolver.resolve4(`none.${clusterDomain}`).then(
      () => null,
      (error: NodeJS.ErrnoException) => error.code,
    )
    if (code !== 'ECONNREFUSED' && code !== 'ETIMEOUT') return
    if (daemon.hasEnded() || performance.now() > deadline)
      throw new Error(`The DNS of the cluster does not answer.\n${await lastLines(log)}`)
    await pause(20)
  }
}
