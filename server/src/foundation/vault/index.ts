/**
 * Vault: encrypts secrets for the database with the key of this installation.
 *
 * Owns the key file of the data folder. Promises that sealed text opens only with the context it was sealed for. The key
 * leaves this feature only encrypted with a passphrase.
 */
export { KeyFileError, type KeySource } from './key-file.ts'
export { openWith, sealWith, unwrapKey, type WithPassphrase, wrapKey } from './passphrase.ts'
export {
  createThrowawayVault,
  createVault,
  openVault,
  type SealedParts,
  type Vault,
  VaultError,
} from './service.ts'
