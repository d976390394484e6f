import { ApiError, type Client, createClient } from '@roost/contracts/client'
import { internalSecretOf } from '../platform/process-environment.ts'

/** The internal secret is unknown, so the running platform cannot be asked. */
export class UnreadableKey extends Error {}

/** Returns the address of the platform's internal listener on this machine. */
export function internalUrlOf(env: NodeJS.ProcessEnv): string {
  return `http://127.0.0.1:${env.ROOST_INTERNAL_PORT ?? 8001}`
}

/** Creates a client of the internal listener with its secret. Throws `UnreadableKey`. */
export async function openInternalClient(env: NodeJS.ProcessEnv): Promise<Client> {
  const secret = await internalSecretOf(env).catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new UnreadableKey(`the encryption key cannot be read: ${reason}`, { cause })
  })
  return createClient(internalUrlOf(env), secret)
}

/** Describes why a request of `openInternalClient` failed. */
export function failureText(env: NodeJS.ProcessEnv, error: unknown): string {
  if (error instanceof UnreadableKey) return error.message
  const platform = `the platform at ${internalUrlOf(env)}`
  if (error instanceof ApiError) return `${platform} answered: ${error.message}`
  return `${platform} does not answer: ${error instanceof Error ? error.message : String(error)}`
}
