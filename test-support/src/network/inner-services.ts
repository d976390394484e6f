/**
 * A network namespace with services on a private address and on the address of a cloud's metadata service,
 * for one bridge of this machine alone. Needs root. Nothing outside the machine is contacted.
 */
import { execFile, spawn } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { promisify } from 'node:util'

export type InnerServices = {
  /** Each greets with `hello` on `port` and on `otherPort`. */
  privateAddress: string
  metadataAddress: string
  /** An address of this machine, in the network of `privateAddress`. */
  ownAddress: string
  /** Contains `privateAddress` and `ownAddress`. */
  network: string
  port: number
  otherPort: number
  /** What the name server on `privateAddress` answers for every name. */
  resolvedAddress: string
  /** Routes the metadata address into the namespace for traffic that arrives on this bridge. */
  routeFrom(bridge: string): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

const run = promisify(execFile)
const port = 8080
const otherPort = 8081
const metadataAddress = '169.254.169.254'
const resolvedAddress = '203.0.113.9'
/** The name server copies the question and answers with one address. */
const listener = `
  const { createServer } = require('node:net')
  let open = 0
  const ready = () => {
    open += 1
    if (open === 3) console.log('ready')
  }
  const names = require('node:dgram').createSocket('udp4')
  names.on('message', (query, { port, address }) => {
    const question = query.subarray(12, query.indexOf(0, 12) + 5)
    const header = Buffer.from([query[0], query[1], 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0])
    const answer = [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ${resolvedAddress.split('.').join(', ')}]
    names.send(Buffer.concat([header, question, Buffer.from(answer)]), port, address)
  })
  names.bind(53, '0.0.0.0', ready)
  for (const port of [${port}, ${otherPort}])
    createServer((socket) => socket.on('error', () => {}).end('hello from inside')).listen(port, '0.0.0.0', ready)
`

export async function openInnerServices(): Promise<InnerServices> {
  const mark = randomBytes(3).toString('hex')
  const space = `roost-test-${mark}`
  const [outer, inner] = [`rt${mark}o`, `rt${mark}i`]
  const third = randomInt(256)
  const fourth = randomInt(63) * 4
  const base = `10.213.${third}`
  const [ownAddress, privateAddress] = [`${base}.${fourth + 1}`, `${base}.${fourth + 2}`]
  const table = String(100_000 + randomInt(1_000_000))
  const bridges: string[] = []
  const ip = (...args: string[]) => run('ip', args)
  const undo = async (...args: string[]) => {
    await ip(...args).catch(() => {})
  }
  let service: ReturnType<typeof spawn> | null = null

  async function close(): Promise<void> {
    service?.kill('SIGKILL')
    for (const bridge of bridges) await undo('rule', 'del', 'iif', bridge, 'lookup', table)
    await undo('route', 'flush', 'table', table)
    await undo('link', 'del', outer)
    await undo('netns', 'del', space)
  }

  try {
    await ip('netns', 'add', space)
    await ip('link', 'add', outer, 'type', 'veth', 'peer', 'name', inner, 'netns', space)
    await ip('addr', 'add', `${ownAddress}/30`, 'dev', outer)
    await ip('link', 'set', outer, 'up')
    await ip('-n', space, 'link', 'set', 'lo', 'up')
    await ip('-n', space, 'addr', 'add', `${privateAddress}/30`, 'dev', inner)
    await ip('-n', space, 'link', 'set', inner, 'up')
    await ip('-n', space, 'addr', 'add', `${metadataAddress}/32`, 'dev', 'lo')
    // Containers that are not masqueraded need a way back.
    await ip('-n', space, 'route', 'add', 'default', 'via', ownAddress)
    service = spawn('ip', ['netns', 'exec', space, process.execPath, '-e', listener], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    if (!service.stdout) throw new Error('no output')
    await once(service.stdout, 'data')
  } catch (error) {
    await close()
    throw error
  }
  return {
    privateAddress,
    metadataAddress,
    ownAddress,
    network: `${base}.${fourth}/30`,
    port,
    otherPort,
    resolvedAddress,
    async routeFrom(bridge) {
      await ip('route', 'replace', metadataAddress, 'via', privateAddress, 'table', table)
      bridges.push(bridge)
      await ip('rule', 'add', 'iif', bridge, 'lookup', table)
    },
    [Symbol.asyncDispose]: close,
  }
}
