const types: Record<string, readonly string[]> = {
  'PDF document': ['pdf'],
  'Text document': ['doc', 'docx', 'odt', 'rtf', 'pages'],
  Spreadsheet: ['xls', 'xlsx', 'xlsm', 'ods', 'numbers'],
  Presentation: ['ppt', 'pptx', 'odp'],
  Archive: ['zip', 'tar', 'gz', 'tgz', 'bz2', 'xz', 'zst', '7z', 'rar', 'jar'],
  Image: ['png', 'jpg', 'jpeg', 'gif', 'webp', 'avif', 'heic', 'ico', 'tif', 'tiff', 'bmp', 'psd'],
  Audio: ['mp3', 'wav', 'ogg', 'oga', 'flac', 'm4a', 'aac', 'opus'],
  Video: ['mp4', 'm4v', 'mov', 'webm', 'mkv', 'avi'],
  Database: ['db', 'sqlite', 'sqlite3', 'parquet'],
  Font: ['woff', 'woff2', 'ttf', 'otf'],
}

/** What browsers play. */
const mediaTypes = new Map([
  ['mp3', 'audio/mpeg'],
  ['wav', 'audio/wav'],
  ['ogg', 'audio/ogg'],
  ['m4a', 'audio/mp4'],
  ['flac', 'audio/flac'],
  ['mp4', 'video/mp4'],
  ['webm', 'video/webm'],
])

const typesByEnding = new Map(
  Object.entries(types).flatMap(([type, endings]) => endings.map((ending) => [ending, type] as const)),
)

/** The type of a binary file in words, by its ending. */
export function fileTypeOf(name: string): string {
  return typesByEnding.get(endingOf(name)) ?? 'Binary file'
}

/** The MIME type of a file that a browser may play, by its ending; null for others. */
export function mediaTypeOf(name: string): string | null {
  return mediaTypes.get(endingOf(name)) ?? null
}

function endingOf(name: string): string {
  return /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? ''
}
