/**
 * The vault: what the database must not hold in plain text is sealed with this installation's key.
 *
 * Owns the key file of the data folder. Promises that sealed text opens where it was sealed and nowhere else. The key
 * itself leaves this feature only under a passphrase.
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
} from './seal.ts'
