/**
 * The installation that a database belongs to: its id and its encryption key.
 *
 * Owns the table `installation`. Promises that no process works with a database whose key or id it does not have. The
 * row contains a check value of the key, not the key.
 */
export { ForeignProcess, joinInstallation, recordKey, refuseForeign } from './service.ts'
