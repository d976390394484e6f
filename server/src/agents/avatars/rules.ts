import type { AvatarType } from '@roost/contracts/agents/avatar'

/** What the bytes are, whatever they are said to be; null for anything that is no picture of these kinds. */
export function pictureType(bytes: Uint8Array): AvatarType | null {
  const text = (from: number, to: number) => String.fromCharCode(...bytes.subarray(from, to))
  if (text(0, 8) === '\x89PNG\r\n\x1a\n' && text(12, 16) === 'IHDR') return 'image/png'
  if (text(0, 3) === '\xff\xd8\xff') return 'image/jpeg'
  if (text(0, 4) === 'RIFF' && text(8, 12) === 'WEBP') return 'image/webp'
  return null
}
