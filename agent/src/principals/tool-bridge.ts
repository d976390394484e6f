import { spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { access, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { waitFor } from '../processes/child.ts'
import type { Environment } from '../processes/environment.ts'
import type { Identities, ProcessUser } from '../processes/identity.ts'
import { createProcessTree, markerName, quote, withMark } from '../processes/tree.ts'

/** A tool server that this program runs for a turn, which must not see its credentials. */
export type BridgedServer = { command: string; args: string[]; env: Environment }

/**
 * Runs tool servers as the agent's own user for a turn of somebody else. Each server has a socket in the turn's
 * folder. A connection is the input and output of one process, so the turn decides nothing but the server.
 */
export type ToolBridge = {
  /** Kills what ended servers left behind. */
  killDetached(): Promise<void>
  /** Ends all servers. */
  close(): Promise<void>
}

export type BridgeOptions = {
  /** The turn's folder, which is handed over with the sockets, and one that only this program can enter. */
  scratch: { path: string; closed: string }
  cwd: string
  user: ProcessUser
  /** Mark of the run. */
  marker: string
}

type Running = { pid: number; exited: Promise<unknown>; socket: Socket; end(): Promise<void> }

/** A CLI may connect again before its earlier connection has ended. */
export const maxConnections = 2
/** Time for a server to end after its input, and again after SIGTERM. */
const graceMs = 1000

/** Both paths are absolute: variables of a turn must not choose another program. */
const interpreter = '/usr/bin/python3'
const client = join(import.meta.dirname, 'tool-bridge.py')
const folder = 'tools'

export const canBridge = () =>
  access(interpreter, constants.X_OK).then(
    () => true,
    () => false,
  )

/** The entry for the CLI: a program that connects its input and output to the socket. */
export function bridgeEntry(scratch: string, index: number) {
  return { command: interpreter, args: ['-I', '-S', client, join(scratch, folder, String(index))] }
}

/** Differs from the run's own mark: the turn's user can neither signal nor end these processes. */
export const bridgeMarker = (executionId: string) => `${executionId}-tools`

export const noBridge: ToolBridge = { killDetached: async () => {}, close: async () => {} }

export async function openBridge(
  servers: BridgedServer[],
  options: BridgeOptions,
  identities: Identities,
): Promise<ToolBridge> {
  if (servers.length === 0) return noBridge
  const { scratch, user } = options
  const marker = bridgeMarker(options.marker)
  const tree = createProcessTree(user, identities)
  const running = new Set<Running>()
  const listeners: Server[] = []
  let wasUsed = false
  let isClosed = false
  // A closing listener deletes the path at which it was made. In the turn's folder that path could lead anywhere.
  const birthplace = await mkdtemp(join(scratch.closed, 'sockets-'))

  const killLeft = () => tree.killDetached(marker, ...[...running].map(({ pid }) => pid))

  async function close() {
    isClosed = true
    for (const listener of listeners) listener.close()
    for (const { socket } of running) socket.destroy()
    await Promise.all([...running].map(({ end }) => end()))
    if (wasUsed) await tree.killMarked(marker)
    await rm(birthplace, { recursive: true, force: true })
  }

  function accept(socket: Socket, server: BridgedServer, ofServer: Set<Running>) {
    // A broken connection closes, which ends the server.
    socket.on('error', () => {})
    if (isClosed || ofServer.size >= maxConnections) return void socket.destroy()
    wasUsed = true
    const started = tryStart(socket, server)
    if (!started) return void socket.destroy()
    running.add(started)
    ofServer.add(started)
    const release = async () => {
      await started.end()
      running.delete(started)
      ofServer.delete(started)
    }
    void started.exited.then(release)
    // The end of the client's input ends the session; a client that was killed looks the same.
    for (const event of ['end', 'close']) socket.once(event, () => void release())
  }

  /** Some faults are thrown instead of reported, for example a zero byte in an argument. */
  function tryStart(socket: Socket, server: BridgedServer): Running | null {
    try {
      return start(socket, server)
    } catch {
      return null
    }
  }

  function start(socket: Socket, server: BridgedServer): Running {
    const before = `cd ${quote(options.cwd)} || exit 126`
    const marked = withMark(marker, server.command, server.args, before)
    const { command, args, options: asUser } = identities.as(user, ...marked)
    const child = spawn(command, args, {
      ...asUser,
      cwd: '/',
      env: { ...server.env, [markerName]: marker },
      // Errors may quote credentials, so the turn does not get them.
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
    })
    let hasExited = false
    const exited = new Promise<void>((resolve) => {
      for (const event of ['exit', 'error']) child.once(event, () => resolve())
    }).then(() => {
      hasExited = true
    })
    const drained = new Promise((resolve) => child.once('close', resolve))
    const disconnected = new Promise((resolve) => socket.once('close', resolve))
    for (const stream of [child.stdin, child.stdout]) stream.on('error', () => {})
    socket.pipe(child.stdin)
    child.stdout.pipe(socket)

    async function stop() {
      child.stdin.end()
      await waitFor(exited, graceMs)
      if (!hasExited && child.pid) await tree.signalGroup(child.pid, 'SIGTERM')
      await waitFor(exited, graceMs)
      running.delete(self)
      await killLeft()
      await waitFor(drained, graceMs)
      socket.end()
      await waitFor(disconnected, graceMs)
      socket.destroy()
    }
    let ending: Promise<void> | null = null
    const self: Running = {
      pid: child.pid ?? 0,
      exited,
      socket,
      end() {
        ending ??= stop()
        return ending
      },
    }
    return self
  }

  try {
    await mkdir(join(scratch.path, folder))
    for (const [index, server] of servers.entries()) {
      const ofServer = new Set<Running>()
      const listener = createServer({ allowHalfOpen: true }, (socket) => accept(socket, server, ofServer))
      listeners.push(listener)
      const born = join(birthplace, String(index))
      await new Promise<void>((resolve, reject) => {
        // Stays: later errors concern one connection, for which there was no descriptor.
        listener.on('error', reject)
        listener.listen(born, resolve)
      })
      await rename(born, join(scratch.path, folder, String(index)))
    }
  } catch (fault) {
    await close()
    throw fault
  }
  return { killDetached: () => (wasUsed ? killLeft() : Promise.resolve()), close }
}
