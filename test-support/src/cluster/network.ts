import { readFile } from 'node:fs/promises'
import { run } from './processes.ts'
import type { NodePlan, Slot } from './slot.ts'

/** Creates the network that joins the nodes. `removeTraces` of `record.ts` removes it. */
export async function createNetwork({ bridge, hostAddress, network, name }: Slot): Promise<void> {
  if ((await readFile('/proc/sys/net/ipv4/ip_forward', 'utf8')).trim() !== '1')
    throw new Error('A cluster needs IP forwarding, which Docker switches on: sysctl net.ipv4.ip_forward=1')
  await ip('link', 'add', bridge, 'type', 'bridge')
  await ip('address', 'add', `${hostAddress}/24`, 'dev', bridge)
  await ip('link', 'set', bridge, 'up')
  const mark = ['-m', 'comment', '--comment', name]
  // Container engines set the policy of FORWARD to DROP.
  await iptables('-I', 'FORWARD', '-i', bridge, ...mark, '-j', 'ACCEPT')
  await iptables('-I', 'FORWARD', '-o', bridge, ...mark, '-j', 'ACCEPT')
  await iptables('-I', 'INPUT', '-i', bridge, ...mark, '-j', 'ACCEPT')
  await iptables(
    '-t',
    'nat',
    '-A',
    'POSTROUTING',
    '-s',
    network,
    '!',
    '-d',
    network,
    ...mark,
    '-j',
    'MASQUERADE',
  )
}

/** Connects the network namespace of the process to the bridge, as a node's only interface. */
export async function connectNode(slot: Slot, node: NodePlan, pid: number): Promise<void> {
  await ip('link', 'add', node.link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(pid))
  await ip('link', 'set', node.link, 'master', slot.bridge, 'up')
  const inside = (...args: string[]) => run('nsenter', ['--target', String(pid), '--net', 'ip', ...args])
  await inside('link', 'set', 'lo', 'up')
  await inside('address', 'add', `${node.address}/24`, 'dev', 'eth0')
  await inside('link', 'set', 'eth0', 'up')
  await inside('route', 'add', 'default', 'via', slot.hostAddress)
  await ip('route', 'replace', node.podNetwork, 'via', node.address, 'dev', slot.bridge)
}

/** Unplugs the node's network cable, or plugs it in. */
export async function setLink({ link }: NodePlan, state: 'up' | 'down'): Promise<void> {
  await ip('link', 'set', link, state)
}

const ip = (...args: string[]) => run('ip', args)
const iptables = (...args: string[]) => run('iptables', ['-w', ...args])
