/** Requests for files of a workspace. */

/** Paths are absolute inside /home/developer; the agent resolves links and refuses paths that leave it. */
export type FileList = { t: 'fs.list'; path: string; depth: number; show_hidden: boolean; limit: number }
export type FileListAnswer = { tree: FileNode[]; total_files: number; truncated: boolean }
export type FileNode = {
  name: string
  path: string
  type: 'file' | 'directory'
  size?: number
  modified?: string
  children?: FileNode[]
  file_count?: number
}
/** `guarded`: the requester must not reach what is the owner's alone, under any name or link. */
export type FileStat = { t: 'fs.stat'; path: string; guarded?: boolean }
export type FileStatAnswer = { type: 'file' | 'directory'; size: number; modified: string; mode: number }
export type FileRead = { t: 'fs.read'; path: string; offset: number; length: number; guarded?: boolean }
export type FileReadAnswer = { data_base64: string; size: number; eof: boolean }
/**
 * The first chunk has offset 0; with the last chunk the file appears atomically under its name. Chunks may be repeated.
 */
export type FileWrite = {
  t: 'fs.write'
  path: string
  upload_id: string
  offset: number
  data_base64: string
  last: boolean
  mode?: number
  /** `rename` picks a free name when the name is taken. */
  on_conflict: 'replace' | 'rename'
  guarded?: boolean
}
export type FileWriteAnswer = { path: string; size: number }
export type FileDelete = { t: 'fs.delete'; path: string; guarded?: boolean }
export type FileMkdir = { t: 'fs.mkdir'; path: string; guarded?: boolean }
/** Never replaces an existing entry. `guarded` moves single files only: a folder may hold what is the owner's alone. */
export type FileMove = { t: 'fs.move'; from: string; to: string; guarded?: boolean }
export type PathAnswer = { path: string }
/**
 * Packs a directory as tar.gz into a temporary file of the agent and returns its handle for `fs.read_pack`.
 */
export type FilePack = { t: 'fs.pack'; path: string; max_bytes: number; guarded?: boolean }
export type FilePackAnswer = { handle: string; size: number }
export type FileReadPack = { t: 'fs.read_pack'; handle: string; offset: number; length: number }
