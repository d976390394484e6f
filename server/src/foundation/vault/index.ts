/**
 * Vault: encrypts secrets for the database with the key of this installation.
 *
 * Owns the key file of the data folder. Promises that sealed text opens only with the context it was sealed for. The key
 * leaves this feature only encrypted with a passphrase.
 */
export { existingKey, KeyFileError, type KeySource, nextKey, readKey } from './key-file.ts'
export { openWith, sealWith, unwrapKey, type WithPassphrase, wrapKey } from './passphrase.ts'
export { readKeyHistory, retire, sealedColumns, settleRotation } from './retired-keys.ts'
export type { SealedColumn } from './sealed-column.ts'
export {
  asSealed,
  createThrowawayVault,
  createVault,
  type KeyHistory,
  openVault,
  type SealedParts,
  type SealedText,
  type Vault,
  VaultError,
} from './service.ts'
