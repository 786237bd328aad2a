use gramjet_compiler::*;
fn main(){ let a: Vec<String>=std::env::args().collect(); let b=std::fs::read_to_string(&a[1]).unwrap();
let f=SourceFile::new(a[1].clone(), b); match dump(&f,&Options::default(),&a[2]) {Ok(t)=>println!("{}",t.unwrap()),Err(_)=>println!("err")} }
