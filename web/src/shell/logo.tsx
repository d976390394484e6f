/** The mark of Roost: a bird's perch. Takes the colour of its text. */
export function Logo({ className = 'size-6' }: { className?: string }) {
  return (
    <svg viewBox="0 0 24 24" className={className} fill="none" aria-hidden="true">
      <path
        d="M4.5 14.2c0-4.6 3.3-8 7.6-8 2.7 0 4.5 1.5 5.1 3.6l2.6.9-2.4 1.2c-.5 3.6-3.3 5.8-6.9 5.8-2.2 0-4.2-.8-6-3.5Z"
        fill="currentColor"
      />
      <circle cx="14.2" cy="9.4" r="1" className="fill-surface" />
      <path d="M2.5 20.2h19" stroke="currentColor" strokeWidth="1.8" strokeLinecap="round" />
      <path d="M9.5 17.4v2.8M12.6 17.4v2.8" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round" />
    </svg>
  )
}
