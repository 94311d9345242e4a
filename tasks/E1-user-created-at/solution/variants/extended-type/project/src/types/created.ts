/** Of things that know since when they exist. */
export interface Created {
  readonly createdAt: Date;
}
