import {
  blockBytes,
  encoding,
  type Header,
  isZero,
  paddingOf,
  readHeader,
  whiteoutAsFile,
} from '../../../../kit/tar.ts'
import { archiveRoot } from '../../port.ts'
import { RefusedCall } from './calls.ts'

/** Where the fields of a GNU header end that `writeHeader` fills; engines read more into the rest. */
const headerEnd = 345

/**
 * Passes an archive that fills a volume. The engine unpacks it as root, so only folders, files and symbolic links
 * below `archiveRoot` may be in it, and whiteouts, which mark what a layer hides: no extended attributes, no hard links
 * and no devices that could be opened. Throws `RefusedCall`.
 */
export async function* checkedArchive(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let block: Buffer = Buffer.alloc(0)
  /** Bytes of content that follow. */
  let left = 0
  let longName: Buffer | null = null
  /** Bytes of the name itself; the rest fills its last block. */
  let nameBytes = 0
  let name: string | null = null
  let hasEnded = false

  function readBlock(): void {
    if (hasEnded || isZero(block)) {
      if (!isZero(block)) throw new RefusedCall('The archive has data after its end.')
      hasEnded = true
      return
    }
    const header = headerOf(block)
    if (header.kind === 'entry') {
      requireInside(name ?? header.entry.path)
      if (header.entry.type === 'hardlink') throw new RefusedCall('The archive has a hard link.')
      name = null
      left = header.entry.size + paddingOf(header.entry.size)
      return
    }
    left = header.size + paddingOf(header.size)
    if (header.kind === 'long link') return
    longName = Buffer.alloc(0)
    nameBytes = header.size
  }

  for await (const chunk of source) {
    const passed: Buffer[] = []
    for (let at = 0; at < chunk.length; ) {
      if (left > 0) {
        const piece = chunk.subarray(at, at + left)
        if (longName) longName = Buffer.concat([longName, piece])
        left -= piece.length
        at += piece.length
        passed.push(piece)
        if (left > 0 || !longName) continue
        const text = longName.toString(encoding, 0, nameBytes)
        name = text.slice(0, text.includes('\0') ? text.indexOf('\0') : undefined)
        longName = null
        continue
      }
      const piece = chunk.subarray(at, at + blockBytes - block.length)
      block = block.length === 0 ? piece : Buffer.concat([block, piece])
      at += piece.length
      if (block.length < blockBytes) break
      readBlock()
      passed.push(block)
      block = Buffer.alloc(0)
    }
    if (passed.length > 0) yield Buffer.concat(passed)
  }
  if (!hasEnded || block.length > 0) throw new RefusedCall('The archive is incomplete.')
}

function headerOf(block: Buffer): Header {
  if (!isZero(block.subarray(headerEnd))) throw new RefusedCall('The archive has a header of another format.')
  try {
    return readHeader(whiteoutAsFile(block) ?? block)
  } catch {
    throw new RefusedCall('The archive may have only folders, files and symbolic links in the GNU format.')
  }
}

function requireInside(path: string): void {
  const [root, ...inside] = path.replace(/\/$/, '').split('/')
  if (root !== archiveRoot || inside.some((part) => part === '' || part === '.' || part === '..'))
    throw new RefusedCall(`The archive may have only clean names below ${archiveRoot}.`)
}
