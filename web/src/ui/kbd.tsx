/** Keys to press together: `<Kbd keys={['Ctrl', 'K']} />`. */
export function Kbd({ keys }: { keys: string[] }) {
  return (
    <span className="inline-flex gap-0.5">
      {keys.map((key) => (
        <kbd
          key={key}
          className="inline-grid h-4.5 min-w-4.5 place-items-center rounded-xs border border-line bg-sunken px-1 font-sans text-2xs text-muted"
        >
          {key}
        </kbd>
      ))}
    </span>
  )
}
