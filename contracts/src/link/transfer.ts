/**
 * Export and import of a whole workspace, as a GNU tar archive in chunks. The agent program makes and unpacks it as the
 * workspace's own user. Names in the archive start with `workspace/`.
 */

export const archivedFolder = 'workspace/'

/** Starts an archive. Without `with_credentials` it omits the files that only the owner may read. */
export type ExportOpen = { t: 'fs.export_open'; with_credentials: boolean }
export type TransferAnswer = { handle: string }
/** Returns the next chunk; `offset` must be the end of the previous one. */
export type ExportRead = { t: 'fs.export_read'; handle: string; offset: number }
/** With `eof` the archive is complete; `unreadable` counts files that could not be read. */
export type ExportReadAnswer = { data_base64: string; eof: boolean; unreadable: number }
/** Ends an export or import before its end. Unknown handles are ignored. */
export type TransferClose = { t: 'fs.transfer_close'; handle: string }
export type ImportOpen = { t: 'fs.import_open' }
/** Unpacks the next chunk; `offset` must be the end of the previous one. */
export type ImportWrite = { t: 'fs.import_write'; handle: string; offset: number; data_base64: string }
/** Waits until everything is unpacked. */
export type ImportCommit = { t: 'fs.import_commit'; handle: string }
