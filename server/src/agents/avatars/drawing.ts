import { createHash } from 'node:crypto'

/** Draws a picture with colours from the agent's id and the initials of its current name or label. */
export function drawAvatar(id: string, name: string): string {
  const [first = 0, second = 0] = createHash('sha256').update(id).digest()
  const hue = Math.round((first / 256) * 360)
  const secondHue = (hue + 30 + Math.round((second / 256) * 60)) % 360
  return [
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 96" width="96" height="96" role="img">',
    '<defs><linearGradient id="g" x1="0" y1="0" x2="1" y2="1">',
    `<stop offset="0" stop-color="hsl(${hue} 60% 42%)"/><stop offset="1" stop-color="hsl(${secondHue} 60% 32%)"/>`,
    '</linearGradient></defs><rect width="96" height="96" rx="20" fill="url(#g)"/>',
    '<text x="48" y="50" fill="#fff" font-family="system-ui,sans-serif" font-size="38" font-weight="600"',
    ` text-anchor="middle" dominant-baseline="middle">${initials(name)}</text></svg>`,
  ].join('')
}

/** Only letters and digits, so nothing needs escaping. */
function initials(name: string): string {
  const words = name
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .map((word) => [...word])
  const [first = [], second] = words
  return (second ? `${first[0]}${second[0]}` : first.slice(0, 2).join('')).toUpperCase()
}
