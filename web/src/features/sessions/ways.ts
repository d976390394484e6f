/** The sign-in methods, as values of `?way=`. */
export const ways = ['password', 'email', 'request'] as const
export type Way = (typeof ways)[number]

type Offers = { email_auth_enabled: boolean; public_access_requests_enabled: boolean }

export function offeredWays(offers: Offers): Way[] {
  return ways.filter(
    (way) =>
      way === 'password' ||
      (way === 'email' && offers.email_auth_enabled) ||
      (way === 'request' && offers.public_access_requests_enabled),
  )
}

/** The requested method if available, else the password. */
export function wayOf(offers: Offers, requested: Way | undefined): Way {
  return requested !== undefined && offeredWays(offers).includes(requested) ? requested : 'password'
}
