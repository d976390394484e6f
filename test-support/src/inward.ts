/** Addresses that lead into the network around the platform, and a trap that detects connections. */
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'

/** Spellings of local and private hosts that some parser accepts. */
export const innerHosts = [
  ...['127.0.0.1', '127.1', '127.0.1', '0x7f.1', '0x7f000001', '0x7f.0.0.1', '2130706433', '017700000001'],
  ...['0177.0.0.1', '00000177.0.0.1', '127.0.0.1.', '0', '0.0.0.0', '127.255.255.254', '１２７.０.０.１'],
  ...['①②⑦.0.0.1', '127。0。0。1', '10.0.0.1', '0xa000001', '172.16.0.1', '192.168.0.1', '100.64.0.1'],
  ...['169.254.169.254', '0xa9fea9fe', '2852039166', '198.18.0.1', '224.0.0.1', '255.255.255.255'],
  ...[
    '[::1]',
    '[::]',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[0:0:0:0:0:ffff:7f00:1]',
  ],
  ...[
    '[::127.0.0.1]',
    '[::ffff:0:127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[64:ff9b::127.0.0.1]',
    '[2002:7f00:1::]',
  ],
  ...['[fe80::1]', '[fc00::1]', '[fd00:ec2::254]', '[fec0::1]', '[ff02::1]'],
  ...['localhost', 'LOCALHOST', 'localhost.', 'ⓛocalhost', 'ip6-localhost'],
]

/** DNS answers for one name; each contains an inner address, alone or among others. */
export const innerAnswers: string[][] = [
  ...['127.0.0.1', '127.8.8.8', '0.0.0.0', '10.1.2.3', '172.31.255.1', '192.168.1.1', '169.254.169.254'],
  ...['100.127.0.1', '192.0.0.8', '198.19.0.1', '224.0.0.251', '255.255.255.255'],
  ...[
    '::1',
    '::',
    '::ffff:127.0.0.1',
    '::ffff:a00:1',
    '::ffff:0:10.0.0.1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
  ],
  ...['fd00:ec2::254', 'fe80::1', 'fe80::1%eth0', 'fec0::1', 'ff02::1'],
].flatMap((address) => [[address], ['1.1.1.1', address], [address, '2606:4700::1111']])

/** Counts connections and closes them. */
export async function startTrap(host = '127.0.0.1', at = 0) {
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    socket.destroy()
  })
  server.listen(at, host)
  await once(server, 'listening')
  // A server that listens on a port has an `AddressInfo`.
  const { port } = server.address() as AddressInfo
  return { port, connections: () => connections, [Symbol.dispose]: () => void server.close() }
}

/**
 * Simulates DNS rebinding: the name first resolves to `127.0.0.2`. A second lookup, here or by the system
 * (`localhost`), leads to a trap.
 */
export async function startRebinding() {
  const first = await startRedirecting('http://127.0.0.1:1', '127.0.0.2')
  const trap = await startTrap('127.0.0.1', first.port)
  let questions = 0
  return {
    url: `http://localhost:${first.port}`,
    lookup: async () => (questions++ === 0 ? ['127.0.0.2'] : ['127.0.0.1']),
    seen: () => ({ questions, reached: first.requests.length > 0, trapped: trap.connections() }),
    [Symbol.dispose]() {
      first[Symbol.dispose]()
      trap[Symbol.dispose]()
    },
  }
}

/** Answers every request with another redirect; `requests` lists the requested paths. */
export async function startRedirecting(to: string, host = '127.0.0.1') {
  const requests: string[] = []
  const statuses = [301, 302, 303, 307, 308]
  const server = createHttpServer((request, response) => {
    const status = statuses[requests.push(request.url ?? '') % statuses.length] ?? 302
    response.writeHead(status, { location: `${to}${request.url}` }).end()
  })
  server.listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    requests,
    [Symbol.dispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}
