/**
 * Push: notifications about new items of the inbox on people's devices, over Web Push.
 *
 * Owns the tables `push_keys`, `push_devices`, `push_items` and `push_messages`. Promises that one process sends each
 * notification, that only people who may see an item now hear of it, and that a device ends with its sign-out. A
 * process that dies while sending makes another one repeat the message; the device then shows it once. Does not decide
 * who sees an item: the operator queue does.
 */
export { pushRoutes } from './routes.ts'
export { createPush, type Push, type PushDeps } from './service.ts'
export { hasPushDevices, pushDeviceStore, sealedColumns } from './store.ts'
