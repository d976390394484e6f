/** A release cannot be made; the message says why. */
export class ReleaseError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ReleaseError'
  }
}
