/** Registers the service worker, which also shows a page while the platform cannot be reached. */
export async function registerWorker(): Promise<ServiceWorkerRegistration> {
  await navigator.serviceWorker.register('/sw.js', { updateViaCache: 'none' })
  return navigator.serviceWorker.ready
}
