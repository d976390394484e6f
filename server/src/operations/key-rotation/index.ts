/**
 * Key rotation: replaces the encryption key of a stopped installation.
 *
 * Owns no table. Promises that after it every value opens with the new key and none with the old one, or that nothing
 * changed; a killed rotation is one of both, and the next start finishes it. Each feature names its sealed columns.
 */
export { sealedColumns } from './columns.ts'
export { opensSecrets, type Rotated, type RotateKey, RotationError, rotateKey } from './service.ts'
export { connectionName } from './store.ts'
