import { Redis, type RedisOptions } from 'ioredis'
import type { Log } from '../log.ts'
import { type Ephemeral, EphemeralDown } from './port.ts'
import { createSubscriber } from './redis-subscriber.ts'

/**
 * A store in Redis. Commands are not queued while the server is down: they fail immediately, so that the
 * caller can fail open or closed in time.
 */
export function redisEphemeral(url: string, { log }: { log: Pick<Log, 'info' | 'warn'> }): Ephemeral {
  const commands = connect(url, 'commands', log)
  const subscriber = createSubscriber(connect(url, 'topics', log), log)

  const ask = async <T>(command: () => Promise<T>): Promise<T> => {
    try {
      return await command()
    } catch (cause) {
      throw new EphemeralDown(undefined, { cause })
    }
  }
  const script = (text: string, key: string, ...args: (string | number)[]) =>
    ask(() => commands.eval(text, 1, prefix + key, ...args))

  return {
    kind: 'redis',
    async count(key, windowSeconds) {
      // The script returns two integers.
      const [count, ttlMs] = (await script(countScript, key, Math.ceil(windowSeconds * 1000))) as [
        number,
        number,
      ]
      return { count, resetsInSeconds: Math.max(1, Math.ceil(ttlMs / 1000)) }
    },
    async peek(key) {
      return Number((await ask(() => commands.get(prefix + key))) ?? 0)
    },
    async put(key, value, ttlSeconds) {
      await ask(() => commands.set(prefix + key, value, 'PX', milliseconds(ttlSeconds)))
    },
    async putIfAbsent(key, value, ttlSeconds) {
      return (
        (await ask(() => commands.set(prefix + key, value, 'PX', milliseconds(ttlSeconds), 'NX'))) === 'OK'
      )
    },
    get: (key) => ask(() => commands.get(prefix + key)),
    // The script returns text or nothing.
    take: async (key) => (await script(takeScript, key)) as string | null,
    async remove(key) {
      await ask(() => commands.del(prefix + key))
    },
    async publish(topic, message) {
      await ask(() => commands.publish(prefix + topic, message))
    },
    subscribe: (topic, listener, onGap) => subscriber.subscribe(prefix + topic, listener, onGap),
    async ping() {
      await ask(() => commands.ping())
    },
    async close() {
      await subscriber.close()
      commands.disconnect()
    },
  }
}

/** Separates Roost's keys from those of other applications. */
const prefix = 'roost:'

/** Atomic, so that no counter stays without an expiry when a process dies between two commands. */
const countScript = `
local count = redis.call('INCR', KEYS[1])
local ttl = redis.call('PTTL', KEYS[1])
if ttl < 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  ttl = tonumber(ARGV[1])
end
return {count, ttl}`

const takeScript = `
local value = redis.call('GET', KEYS[1])
if value then redis.call('DEL', KEYS[1]) end
return value`

function milliseconds(seconds: number): number {
  return Math.max(1, Math.ceil(seconds * 1000))
}

function connect(url: string, name: string, log: Pick<Log, 'info' | 'warn'>): Redis {
  const options: RedisOptions = {
    connectionName: `roost-${name}`,
    connectTimeout: 3_000,
    commandTimeout: 2_000,
    keepAlive: 10_000,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    // The subscriber resubscribes, because it knows the listeners to notify.
    autoResubscribe: false,
    retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 6), 2_000),
    // After a failover the name points to the new primary.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  }
  const connection = new Redis(url, options)
  let isDown = false
  connection.on('ready', () => {
    if (isDown) log.info({ connection: name }, 'redis is back')
    isDown = false
  })
  // Logged once per interruption; every failed attempt has the same error.
  connection.on('error', (error: Error) => {
    if (!isDown) log.warn({ connection: name, err: error }, 'redis cannot be reached')
    isDown = true
  })
  return connection
}
