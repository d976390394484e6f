/**
 * The nonce this page was sent with, for the few libraries that bring a style element of their own. Empty where
 * the page was sent without a policy, as the development server does.
 */
export function cspNonce(page: Document = document): string {
  return page.querySelector<HTMLElement>('meta[property="csp-nonce"]')?.nonce ?? ''
}
