/**
 * The nonce of this page, for the few libraries that add a style element. Empty without a policy, as on the
 * development server.
 */
export function cspNonce(page: Document = document): string {
  return page.querySelector<HTMLElement>('meta[property="csp-nonce"]')?.nonce ?? ''
}
