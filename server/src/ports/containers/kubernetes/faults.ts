import { ContainerError } from '../port.ts'
import type { Status } from './objects.ts'

/** A refusal by the API server. The message is the API's sentence, or a clearer one for common cases. */
export class ApiRefusal extends ContainerError {
  readonly status: number
  /** The API's reason, such as `AlreadyExists`; empty if the response has none. */
  readonly reason: string
  constructor(what: string, status: number, body: Status) {
    const { fault, message } = explain(status, body)
    // People see this message without the name of the operation.
    super(fault, fault === 'quota_exceeded' ? message : `${what}: ${message}`)
    this.name = 'ApiRefusal'
    this.status = status
    this.reason = body.reason ?? ''
  }
}

export function isStatus(error: unknown, ...statuses: number[]): boolean {
  return error instanceof ApiRefusal && statuses.includes(error.status)
}

/** Returns null for a 404 and throws every other error. */
export function nullIfMissing(error: unknown): null {
  if (isStatus(error, 404)) return null
  throw error
}

function explain(
  status: number,
  { message = '' }: Status,
): { fault: ContainerError['fault']; message: string } {
  const plain = message.trim() || `the Kubernetes API answered with status ${status}`
  if (status === 401)
    return fault('engine_fault', 'the Kubernetes API does not accept the credentials. Renew them.')
  if (status === 403) return explainForbidden(plain)
  if (status === 429)
    return fault('engine_down', 'the Kubernetes API is overloaded and refuses requests. Try again later.')
  const isAway = [502, 503, 504].includes(status) || (status >= 500 && /etcdserver|timed? ?out/i.test(plain))
  return fault(isAway ? 'engine_down' : 'engine_fault', plain)
}

function explainForbidden(message: string) {
  const quota = /exceeded quota: ([^,]+), requested: (.+), used: (.+), limited: (.+)$/.exec(message)
  if (quota) {
    const [, name, requested, used, limited] = quota
    return fault(
      'quota_exceeded',
      `The quota ${name} of the namespace is exhausted: requested ${requested}, used ${used}, limit ${limited}.`,
    )
  }
  const runtime = /RuntimeClass "([^"]+)" not found/.exec(message)
  if (runtime) return fault('runtime_missing', `the cluster has no RuntimeClass ${runtime[1]}`)
  const right =
    /User "([^"]+)" cannot (\w+) resource "([^"]+)" in API group "([^"]*)"(?: in the namespace "([^"]+)")?/.exec(
      message,
    )
  if (!right) return fault('engine_fault', message)
  const [, user, verb, resource, group, namespace] = right
  const where = namespace ? `in the namespace ${namespace}` : 'in the whole cluster'
  const full = group ? `${resource}.${group}` : resource
  return fault('engine_fault', `${user} lacks the right "${verb}" on ${full} ${where}. Add it to its role.`)
}

const fault = (name: ContainerError['fault'], message: string) => ({ fault: name, message })
