/**
 * Upgrades: backs up the data before migrations, and returns to that state.
 *
 * Owns no table, but the files `upgrade-state.json` and `rollback.json` and the folder `upgrades` of the data folder.
 * Promises that migrations of existing data start after a verified backup, and that an interrupted rollback can be
 * repeated. Does not know the code's repository: the command line changes the code.
 */
export { removeOldBackups, UpgradeError } from './backups.ts'
export { type Code, keptBackups, type UpgradeState } from './files.ts'
export { planRollback, type RollbackPlan, rollBackData } from './rollback.ts'
export { type Packaging, type UpgradeData, upgradeData } from './service.ts'
