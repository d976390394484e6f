/** The machine that this process runs on. */
export type Host = {
  /** Returns current counters and levels. Rejects when the file system is unreadable. */
  read(): Promise<HostReading>
}

export type HostReading = {
  cpuCount: number
  /** Time of all CPUs since the machine started; a rate is the difference of two readings. */
  cpuBusyMs: number
  cpuTotalMs: number
  memory: Space
  /** The file system of the data folder. */
  disk: Space
  /** Over 1, 5 and 15 minutes. */
  load: [number, number, number]
}
/** `usedBytes` excludes reclaimable memory. */
export type Space = { usedBytes: number; totalBytes: number }
