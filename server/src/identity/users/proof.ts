/** How an account was proven to be the caller's. */
export type Proof = { mode: 'admin'; passwordHash: string } | { mode: 'email' }
