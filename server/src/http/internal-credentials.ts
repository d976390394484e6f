import { isSameSecret } from '../kit/same-secret.ts'
import type { Secret } from '../kit/secret.ts'

/** Checks the `Authorization` header of requests on the internal listener. */
export type InternalCredentials = {
  /** True for the internal secret, which the platform's own processes hold. */
  isPlatform(authorization: string | undefined): boolean
  /** True for the read token of the metrics; false if none is configured. */
  isMetricsReader(authorization: string | undefined): boolean
}

export function createInternalCredentials(expected: {
  secret: Secret
  metricsToken: Secret | null
}): InternalCredentials {
  const matches = (authorization: string | undefined, secret: Secret | null) => {
    const presented = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
    return presented !== undefined && secret !== null && isSameSecret(presented, secret.reveal())
  }
  return {
    isPlatform: (authorization) => matches(authorization, expected.secret),
    isMetricsReader: (authorization) => matches(authorization, expected.metricsToken),
  }
}
