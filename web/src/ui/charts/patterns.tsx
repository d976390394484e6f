import { useId } from 'react'

/** Patterns over a bar's colour, by series: none, stripes up, dots, stripes down, lines, grid. */
export function Pattern({ id, colour, index }: { id: string; colour: string; index: number }) {
  return (
    <pattern id={id} width="6" height="6" patternUnits="userSpaceOnUse">
      <rect width="6" height="6" fill={colour} />
      <g stroke="var(--color-surface)" strokeWidth="1.5" fill="var(--color-surface)">
        {marks[index % marks.length]}
      </g>
    </pattern>
  )
}

export function PatternSwatch({ colour, index }: { colour: string; index: number }) {
  const id = useId()
  return (
    <svg viewBox="0 0 12 12" className="size-3" aria-hidden="true">
      <defs>
        <Pattern id={id} colour={colour} index={index} />
      </defs>
      <rect width="12" height="12" rx="2" fill={`url(#${id})`} />
    </svg>
  )
}

const marks = [
  null,
  <path key="up" d="M-1 7 7 -1M-1 1 1 -1M5 7 7 5" />,
  <circle key="dots" cx="3" cy="3" r="1" strokeWidth="0" />,
  <path key="down" d="M-1 -1 7 7M5 -1 7 1M-1 5 1 7" />,
  <path key="lines" d="M0 3H6" />,
  <path key="grid" d="M0 3H6M3 0V6" strokeWidth="1" />,
]
