/** The sign-in methods, as values of `?way=`. */
export const signInMethods = ['password', 'email', 'request'] as const
export type SignInMethod = (typeof signInMethods)[number]

type Offers = { email_auth_enabled: boolean; public_access_requests_enabled: boolean }

export function offeredMethods(offers: Offers): SignInMethod[] {
  return signInMethods.filter(
    (way) =>
      way === 'password' ||
      (way === 'email' && offers.email_auth_enabled) ||
      (way === 'request' && offers.public_access_requests_enabled),
  )
}

/** The requested method if available, else the password. */
export function methodOf(offers: Offers, requested: SignInMethod | undefined): SignInMethod {
  return requested !== undefined && offeredMethods(offers).includes(requested) ? requested : 'password'
}
